import { type phase0, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";

/** Enough for several slots with equivocating proposers. */
const MAX_HEADERS = 64;

/**
 * Cache of verified signed headers, including pending verifications, so that all sidecars of a block share one
 * verification. Results never expire, because they depend only on the signed header.
 */
export class VerifiedHeaders {
  readonly #headers = new LruMap<RootHex, Promise<void>>(MAX_HEADERS);

  /** Verifies a header unless it is cached. Rejects with the error from `verify`. */
  verify(header: phase0.SignedBeaconBlockHeader, verify: () => Promise<unknown>): Promise<void> {
    const key = toRootHex(ssz.phase0.SignedBeaconBlockHeader.hashTreeRoot(header));
    const cached = this.#headers.get(key);
    if (cached) return cached;
    const verification = this.#verify(key, verify);
    this.#headers.set(key, verification);
    return verification;
  }

  async #verify(key: RootHex, verify: () => Promise<unknown>): Promise<void> {
    try {
      await verify();
    } catch (error) {
      this.#headers.delete(key);
      throw error;
    }
  }
}
