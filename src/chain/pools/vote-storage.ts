import { ListCompositeType } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type Attestation, type altair, ssz } from "@lodestar/types";
import type { AttestationPool } from "./attestation-pool.ts";
import type { SyncCommitteePool } from "./sync-committee-pool.ts";

/** The votes of one slot and kind as one SSZ list; the slot says in which fork's encoding. */
export interface StoredVotes {
  kind: string;
  bytes: Uint8Array;
}

export interface Votes {
  attestations: Attestation[];
  contributions: altair.SyncCommitteeContribution[];
}

const ATTESTATIONS = "attestations";
const CONTRIBUTIONS = "contributions";
/** The bound of an SSZ list shows in its root, not in its bytes, so any bound above what a pool holds will do. */
const LIST_LIMIT = 2 ** 32;
const Contributions = new ListCompositeType(ssz.altair.SyncCommitteeContribution, LIST_LIMIT);

export function writeVotes(
  config: BeaconConfig,
  pools: { attestations: AttestationPool; syncCommittee: SyncCommitteePool },
): StoredVotes[] {
  const stored: StoredVotes[] = pools.attestations.slots().map((slot) => ({
    kind: `${ATTESTATIONS}/${slot}`,
    bytes: attestationsOf(config, slot).serialize(pools.attestations.list({ slot })),
  }));
  const contributions = pools.syncCommittee.list();
  if (contributions.length > 0) stored.push({ kind: CONTRIBUTIONS, bytes: Contributions.serialize(contributions) });
  return stored;
}

export function isStoredVotes({ kind }: StoredVotes): boolean {
  return kind === CONTRIBUTIONS || kind.startsWith(`${ATTESTATIONS}/`);
}

export function readVotes(config: BeaconConfig, stored: Iterable<StoredVotes>): Votes {
  const votes: Votes = { attestations: [], contributions: [] };
  for (const { kind, bytes } of stored) {
    if (kind === CONTRIBUTIONS) {
      votes.contributions.push(...Contributions.deserialize(bytes));
      continue;
    }
    const slot = Number(kind.slice(ATTESTATIONS.length + 1));
    votes.attestations.push(...attestationsOf(config, slot).deserialize(bytes));
  }
  return votes;
}

function attestationsOf(config: BeaconConfig, slot: number): ListCompositeType<typeof ssz.phase0.Attestation> {
  return new ListCompositeType(config.getForkTypes(slot).Attestation as typeof ssz.phase0.Attestation, LIST_LIMIT);
}
