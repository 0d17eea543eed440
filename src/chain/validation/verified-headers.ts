import { type phase0, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { LruMap } from "../lru-map.ts";

/** Those of several slots, and of proposers that sign several. */
const MAX_HEADERS = 64;

/**
 * The signed headers of which something is in order, or is being verified: all sidecars of a block have the same one. What was found of a
 * header stays true, as its root and its signature fix all that it depends on.
 */
export class VerifiedHeaders {
  readonly #headers = new LruMap<RootHex, Promise<void>>(MAX_HEADERS);

  /** Has a header verified unless it is known; rejects with what the verification throws. */
  verify(header: phase0.SignedBeaconBlockHeader, verify: () => Promise<unknown>): Promise<void> {
    const key = toRootHex(ssz.phase0.SignedBeaconBlockHeader.hashTreeRoot(header));
    const known = this.#headers.get(key);
    if (known) return known;
    const verified = this.#verify(key, verify);
    this.#headers.set(key, verified);
    return verified;
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
