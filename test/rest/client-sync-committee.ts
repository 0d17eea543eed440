import type { routes } from "@lodestar/api";
import {
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  SYNC_COMMITTEE_SUBNET_SIZE,
  TARGET_AGGREGATORS_PER_SYNC_SUBCOMMITTEE,
} from "@lodestar/params";
import { type altair, type Root, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { isSelected } from "../json-rpc-validator/chain-facts.ts";
import type { ValidatorKey } from "../json-rpc-validator/keys.ts";
import type { Connection } from "./client-connection.ts";
import { sign } from "./client-signing.ts";

type SyncDuty = routes.validator.SyncDuty;

interface Subcommittee {
  slot: Slot;
  beaconBlockRoot: Root;
  subcommitteeIndex: number;
  members: readonly ValidatorIndex[];
}

/** Signs the head with every key in the sync committee, then publishes a contribution per subcommittee. */
export async function signHead(
  connection: Connection,
  keys: readonly ValidatorKey[],
  slot: Slot,
  duties: readonly SyncDuty[],
): Promise<void> {
  const { config, clientAt } = connection;
  const { beacon, validator } = clientAt(slot);
  const { root: beaconBlockRoot } = (await beacon.getBlockRoot({ blockId: "head" })).value();
  const signatures = duties.map(({ validatorIndex }) => {
    const key = keys[validatorIndex]!;
    const signature = sign(config, key, DOMAIN_SYNC_COMMITTEE, slot, ssz.Root, beaconBlockRoot);
    return { slot, beaconBlockRoot, validatorIndex, signature };
  });
  (await beacon.submitPoolSyncCommitteeSignatures({ signatures })).assertOk();
  const contributionAndProofs: altair.SignedContributionAndProof[] = [];
  for (const [subcommitteeIndex, members] of membersBySubcommittee(duties)) {
    const subcommittee = { slot, beaconBlockRoot, subcommitteeIndex, members };
    const contribution = await contribute(connection, keys, subcommittee);
    if (contribution) contributionAndProofs.push(contribution);
  }
  (await validator.publishContributionAndProofs({ contributionAndProofs })).assertOk();
}

function membersBySubcommittee(duties: readonly SyncDuty[]): Map<number, ValidatorIndex[]> {
  const members = new Map<number, Set<ValidatorIndex>>();
  for (const { validatorIndex, validatorSyncCommitteeIndices } of duties) {
    for (const seat of validatorSyncCommitteeIndices) {
      const subcommittee = Math.floor(seat / SYNC_COMMITTEE_SUBNET_SIZE);
      members.set(subcommittee, (members.get(subcommittee) ?? new Set()).add(validatorIndex));
    }
  }
  return new Map(Array.from(members, ([subcommittee, indices]) => [subcommittee, [...indices]]));
}

async function contribute(
  { config, clientAt }: Connection,
  keys: readonly ValidatorKey[],
  { slot, beaconBlockRoot, subcommitteeIndex, members }: Subcommittee,
): Promise<altair.SignedContributionAndProof | undefined> {
  const { SyncAggregatorSelectionData, ContributionAndProof } = ssz.altair;
  const selection = { slot, subcommitteeIndex };
  const modulo = SYNC_COMMITTEE_SUBNET_SIZE / TARGET_AGGREGATORS_PER_SYNC_SUBCOMMITTEE;
  for (const member of members) {
    const key = keys[member]!;
    const domain = DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF;
    const selectionProof = sign(config, key, domain, slot, SyncAggregatorSelectionData, selection);
    if (!isSelected(toHex(selectionProof), modulo)) continue;
    const { validator } = clientAt(slot);
    const args = { slot, subcommitteeIndex, beaconBlockRoot };
    const contribution = (await validator.produceSyncCommitteeContribution(args)).value();
    const message = { aggregatorIndex: member, contribution, selectionProof };
    const type = ContributionAndProof;
    return { message, signature: sign(config, key, DOMAIN_CONTRIBUTION_AND_PROOF, slot, type, message) };
  }
  return undefined;
}
