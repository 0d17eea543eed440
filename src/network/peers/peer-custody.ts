import { getV4Crypto } from "@chainsafe/enr";
import { peerIdFromString } from "@libp2p/peer-id";
import type { BeaconConfig } from "@lodestar/config";
import { fromHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";
import { columnsOfGroups, custodyGroupsOf, subnetOfColumn } from "../../data/custody.ts";
import type { KnownPeer } from "./known-peers.ts";

/** Slightly above the maximum number of known peers. */
const MAX_CACHED = 2_048;

interface CustodyColumns {
  groupCount: number;
  columns: readonly number[];
  subnets: readonly number[];
}

type CustodyClaims = Pick<KnownPeer, "id" | "metadata" | "record">;

/**
 * Computes the custody columns of peers from their node ids and advertised group counts (fulu/das-core.md,
 * get_custody_groups).
 */
export class PeerCustody {
  readonly #config: BeaconConfig;
  readonly #cache = new LruMap<string, CustodyColumns>(MAX_CACHED);

  constructor(config: BeaconConfig) {
    this.#config = config;
  }

  /** Returns a peer's custody columns in ascending order. */
  columnsOf(peer: CustodyClaims): readonly number[] {
    return this.#custodyOf(peer).columns;
  }

  /** Returns the subnets of a peer's custody columns. */
  subnetsOf(peer: CustodyClaims): readonly number[] {
    return this.#custodyOf(peer).subnets;
  }

  #custodyOf({ id, metadata, record }: CustodyClaims): CustodyColumns {
    const { CUSTODY_REQUIREMENT, NUMBER_OF_CUSTODY_GROUPS } = this.#config;
    // Metadata from before fulu has no count. Every node custodies at least the required minimum.
    const advertised = metadata?.custodyGroupCount || record.custodyGroupCount || CUSTODY_REQUIREMENT;
    const groupCount = Math.min(advertised, NUMBER_OF_CUSTODY_GROUPS);
    const cached = this.#cache.get(id);
    if (cached?.groupCount === groupCount) return cached;
    const nodeId = nodeIdOf(id);
    const columns = nodeId ? columnsOfGroups(this.#config, custodyGroupsOf(this.#config, nodeId, groupCount)) : [];
    const subnets = [...new Set(columns.map((column) => subnetOfColumn(this.#config, column)))];
    const custody = { groupCount, columns, subnets };
    this.#cache.set(id, custody);
    return custody;
  }
}

/** Returns the discv5 node id, or undefined if the key is not a secp256k1 key. */
function nodeIdOf(peerId: string): Uint8Array | undefined {
  const { publicKey } = peerIdFromString(peerId);
  return publicKey?.type === "secp256k1" ? fromHex(getV4Crypto().nodeId(publicKey.raw)) : undefined;
}
