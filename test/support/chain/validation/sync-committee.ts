import { aggregateSignatures } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import {
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
} from "@lodestar/params";
import { computeSigningRoot } from "@lodestar/state-transition";
import { type altair, type Slot, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { SYNC_SUBCOMMITTEE_SIZE, subcommitteeMembers } from "../../../../src/chain/validation/sync-committee-at.ts";
import type { TestChain } from "./validation-chain.ts";

export const membersOf = (chain: TestChain, subcommitteeIndex: number): number[] =>
  subcommitteeMembers(chain.headState.epochCtx.currentSyncCommitteeIndexed, subcommitteeIndex);

interface SyncOptions {
  slot: Slot;
  blockRoot?: Uint8Array;
}

function blockSigningRoot(chain: TestChain, slot: Slot, blockRoot: Uint8Array): Uint8Array {
  return computeSigningRoot(ssz.Root, blockRoot, chain.config.getDomain(slot, DOMAIN_SYNC_COMMITTEE, slot));
}

export function syncMessage(
  chain: TestChain,
  validatorIndex: number,
  { slot, blockRoot = fromHex(chain.headRoot) }: SyncOptions,
): altair.SyncCommitteeMessage {
  const signature = chain.sign(validatorIndex, blockSigningRoot(chain, slot, blockRoot));
  return { slot, beaconBlockRoot: blockRoot, validatorIndex, signature };
}

/** Signatures of the subcommittee members at those positions. */
export function contributionOf(
  chain: TestChain,
  subcommitteeIndex: number,
  positions: number[],
  { slot, blockRoot = fromHex(chain.headRoot) }: SyncOptions,
): altair.SyncCommitteeContribution {
  const members = membersOf(chain, subcommitteeIndex);
  const signingRoot = blockSigningRoot(chain, slot, blockRoot);
  const aggregationBits = BitArray.fromBitLen(SYNC_SUBCOMMITTEE_SIZE);
  for (const position of positions) aggregationBits.set(position, true);
  const signatures = positions.map((position) => chain.key(members[position]!).sign(signingRoot));
  const signature = aggregateSignatures(signatures).toBytes();
  return { slot, beaconBlockRoot: blockRoot, subcommitteeIndex, aggregationBits, signature };
}

/** By default the first member of the subcommittee is the aggregator. */
export function signContribution(
  chain: TestChain,
  contribution: altair.SyncCommitteeContribution,
  aggregatorIndex = membersOf(chain, contribution.subcommitteeIndex)[0]!,
  { proofBy = aggregatorIndex, signedBy = aggregatorIndex } = {},
): altair.SignedContributionAndProof {
  const { config } = chain;
  const { slot, subcommitteeIndex } = contribution;
  const proofDomain = config.getDomain(slot, DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF, slot);
  const proofRoot = computeSigningRoot(
    ssz.altair.SyncAggregatorSelectionData,
    { slot, subcommitteeIndex },
    proofDomain,
  );
  const message = { aggregatorIndex, contribution, selectionProof: chain.sign(proofBy, proofRoot) };
  const domain = config.getDomain(slot, DOMAIN_CONTRIBUTION_AND_PROOF, slot);
  return {
    message,
    signature: chain.sign(signedBy, computeSigningRoot(ssz.altair.ContributionAndProof, message, domain)),
  };
}
