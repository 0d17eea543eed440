import { getV4Crypto } from "@chainsafe/enr";
import { peerIdFromString } from "@libp2p/peer-id";
import type { BeaconConfig } from "@lodestar/config";
import { fromHex } from "@lodestar/utils";
import { LruMap } from "../../chain/lru-map.ts";
import { columnsOfGroups, custodyGroupsOf, subnetOfColumn } from "../../data/custody.ts";
import type { KnownPeer } from "./known-peers.ts";

/** Somewhat more than the peers that are known at a time. */
const MAX_REMEMBERED = 2_048;

interface KeptColumns {
  groupCount: number;
  columns: readonly number[];
  subnets: readonly number[];
}

type CustodyClaims = Pick<KnownPeer, "id" | "metadata" | "record">;

/** Which columns peers keep: those that their ids give them, of as many groups as they tell (fulu/das-core.md, get_custody_groups). */
export class PeerCustody {
  readonly #config: BeaconConfig;
  readonly #kept = new LruMap<string, KeptColumns>(MAX_REMEMBERED);

  constructor(config: BeaconConfig) {
    this.#config = config;
  }

  /** In ascending order. */
  columnsOf(peer: CustodyClaims): readonly number[] {
    return this.#keptBy(peer).columns;
  }

  /** Those of its columns. */
  subnetsOf(peer: CustodyClaims): readonly number[] {
    return this.#keptBy(peer).subnets;
  }

  #keptBy({ id, metadata, record }: CustodyClaims): KeptColumns {
    const { CUSTODY_REQUIREMENT, NUMBER_OF_CUSTODY_GROUPS } = this.#config;
    // Metadata of before fulu tells none, and nobody keeps fewer than all have to.
    const told = metadata?.custodyGroupCount || record.custodyGroupCount || CUSTODY_REQUIREMENT;
    const groupCount = Math.min(told, NUMBER_OF_CUSTODY_GROUPS);
    const known = this.#kept.get(id);
    if (known?.groupCount === groupCount) return known;
    const nodeId = nodeIdOf(id);
    const columns = nodeId ? columnsOfGroups(this.#config, custodyGroupsOf(this.#config, nodeId, groupCount)) : [];
    const subnets = [...new Set(columns.map((column) => subnetOfColumn(this.#config, column)))];
    const kept = { groupCount, columns, subnets };
    this.#kept.set(id, kept);
    return kept;
  }
}

/** The id by which discovery knows the peer: the hash of its public key. Undefined for a key of another kind. */
function nodeIdOf(peerId: string): Uint8Array | undefined {
  const { publicKey } = peerIdFromString(peerId);
  return publicKey?.type === "secp256k1" ? fromHex(getV4Crypto().nodeId(publicKey.raw)) : undefined;
}
