import type { routes } from "@lodestar/api";
import {
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import { isSyncCommitteeAggregator } from "@lodestar/state-transition";
import { type altair, type BLSSignature, type Root, type Slot, ssz, type ValidatorIndex } from "@lodestar/types";
import { MapDef, toRootHex } from "@lodestar/utils";
import { TimeSlice } from "../../async/time-slice.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface SyncCommitteeModules {
  api: ValidatorApi;
  signer: ValidatorSigner;
  /** Called if a subcommittee's contribution fails. The remaining contributions are still published. */
  onFailure: (error: unknown) => void;
}

/** Block root to sign, and our sync committee members that sign it. */
export interface SyncCommitteeSigning {
  beaconBlockRoot: Root;
  duties: routes.validator.SyncDuty[];
}

/** Requests the head root, which the members sign regardless of the head's slot. */
export async function prepareSyncMessages(
  { api }: Pick<SyncCommitteeModules, "api">,
  duties: routes.validator.SyncDuty[],
): Promise<SyncCommitteeSigning> {
  const { data } = await api.beacon.getBlockRoot({ blockId: "head" });
  return { beaconBlockRoot: data.root, duties };
}

/**
 * Signs and submits one message per member, regardless of the number of seats (altair/validator.md, Sync committee
 * messages).
 */
export async function submitSyncMessages(
  { api, signer }: Omit<SyncCommitteeModules, "onFailure">,
  slot: Slot,
  { beaconBlockRoot, duties }: SyncCommitteeSigning,
): Promise<void> {
  const signingRoot = signer.syncMessageRoot(beaconBlockRoot, slot);
  const slice = new TimeSlice();
  const signatures: altair.SyncCommitteeMessage[] = [];
  for (const { validatorIndex } of duties) {
    signatures.push({ slot, beaconBlockRoot, validatorIndex, signature: signer.sign(validatorIndex, signingRoot) });
    await slice.yieldIfDue();
  }
  await api.beacon.submitPoolSyncCommitteeSignatures({ signatures });
}

/**
 * Publishes one contribution per subcommittee with a selected aggregator (altair/validator.md, Sync committee
 * contributions). All our aggregators in a subcommittee would publish the same contribution.
 */
export async function publishContributions(
  { api, signer, onFailure }: SyncCommitteeModules,
  slot: Slot,
  { beaconBlockRoot, duties }: SyncCommitteeSigning,
): Promise<void> {
  const contributionAndProofs: altair.SignedContributionAndProof[] = [];
  for (const [subcommitteeIndex, members] of membersBySubcommittee(duties)) {
    const selected = await selectAggregator(signer, slot, subcommitteeIndex, members);
    if (!selected) continue;
    try {
      const response = await api.validator.produceSyncCommitteeContribution({
        slot,
        subcommitteeIndex,
        beaconBlockRoot: toRootHex(beaconBlockRoot),
      });
      const message: altair.ContributionAndProof = { ...selected, contribution: response.data };
      const { ContributionAndProof } = ssz.altair;
      const signingRoot = signer.signingRoot(ContributionAndProof, message, DOMAIN_CONTRIBUTION_AND_PROOF, slot);
      contributionAndProofs.push({ message, signature: signer.sign(selected.aggregatorIndex, signingRoot) });
    } catch (error) {
      onFailure(error);
    }
  }
  if (contributionAndProofs.length > 0) await api.validator.publishContributionAndProofs({ contributionAndProofs });
}

function membersBySubcommittee(duties: readonly routes.validator.SyncDuty[]): Map<number, Set<ValidatorIndex>> {
  const members = new MapDef<number, Set<ValidatorIndex>>(() => new Set());
  for (const { validatorIndex, validatorSyncCommitteeIndices } of duties) {
    for (const seat of validatorSyncCommitteeIndices) {
      members.getOrDefault(Math.floor(seat / SYNC_COMMITTEE_SUBNET_SIZE)).add(validatorIndex);
    }
  }
  return members;
}

async function selectAggregator(
  signer: ValidatorSigner,
  slot: Slot,
  subcommitteeIndex: number,
  members: Iterable<ValidatorIndex>,
): Promise<{ aggregatorIndex: ValidatorIndex; selectionProof: BLSSignature } | undefined> {
  const selection: altair.SyncAggregatorSelectionData = { slot, subcommitteeIndex };
  const { SyncAggregatorSelectionData } = ssz.altair;
  const domainType = DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF;
  const signingRoot = signer.signingRoot(SyncAggregatorSelectionData, selection, domainType, slot);
  const slice = new TimeSlice();
  for (const aggregatorIndex of members) {
    const selectionProof = signer.sign(aggregatorIndex, signingRoot);
    if (isSyncCommitteeAggregator(selectionProof)) return { aggregatorIndex, selectionProof };
    await slice.yieldIfDue();
  }
  return undefined;
}
