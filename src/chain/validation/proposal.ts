import { DOMAIN_BEACON_PROPOSER } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeStartSlotAtEpoch,
  createIndexedSignatureSetFromComponents,
} from "@lodestar/state-transition";
import { type phase0, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { stateOrIgnore, type ValidationContext } from "./context.ts";
import { ignore, reject } from "./outcome.ts";

// Rules shared by blocks and by sidecars, which contain the block header.

type Proposal = Pick<phase0.BeaconBlockHeader, "slot" | "proposerIndex" | "parentRoot">;

interface SignedProposal {
  proposal: Proposal;
  /** Root of the block and of its header. */
  root: Uint8Array;
  signature: Uint8Array;
}

export function refuseFinalizedSlot({ forkChoice }: ValidationContext, slot: Slot, what: string): void {
  const finalizedSlot = computeStartSlotAtEpoch(forkChoice.finalized.epoch);
  if (slot <= finalizedSlot) {
    throw ignore("finalized-slot", `${what}'s slot ${slot} is not after the finalized slot ${finalizedSlot}.`);
  }
}

export function refuseInvalidParent(
  { forkChoice, invalidBlocks }: ValidationContext,
  { proposal: { slot, parentRoot }, root }: Pick<SignedProposal, "proposal" | "root">,
  what: string,
): void {
  const parentHex = toRootHex(parentRoot);
  // Ignored rather than rejected, because the execution engine may be wrong (bellatrix/p2p-interface.md, beacon_block).
  // Optimistic parents are accepted.
  if (forkChoice.isInvalid(parentHex)) {
    throw ignore("invalid-parent", `${what}'s parent ${parentHex} has an invalid execution payload.`);
  }
  const parent = forkChoice.get(parentHex);
  if (!parent && invalidBlocks.has(parentHex)) {
    invalidBlocks.add(toRootHex(root));
    throw reject("invalid-parent", `${what}'s parent ${parentHex} is invalid or descends from an invalid block.`);
  }
  if (!parent) throw ignore("unknown-parent", `${what}'s parent ${parentHex} is unknown.`);
  if (slot <= parent.slot) {
    throw reject("slot-not-after-parent", `${what}'s slot ${slot} is not after its parent's slot ${parent.slot}.`);
  }
  if (!forkChoice.isDescendantOfFinalized(parent.root)) {
    throw reject(
      "not-descended-from-finalized",
      `${what}'s parent ${parent.root} does not descend from the finalized block ${forkChoice.finalized.root}.`,
    );
  }
}

/**
 * Rejects an unknown proposer. An index too large to be exact is hashed as a different number, so the block root does
 * not reveal it.
 */
export function refuseUnknownProposer(
  { states, forkChoice }: ValidationContext,
  { proposerIndex, parentRoot }: Proposal,
  what: string,
): void {
  if (proposerIndex < states.head.validators.length) return;
  // A missing parent may have added the validator.
  const rejectOrIgnore = forkChoice.has(toRootHex(parentRoot)) ? reject : ignore;
  throw rejectOrIgnore("unknown-validator", `${what}'s proposer ${proposerIndex} is not a validator.`);
}

/**
 * Verifies the proposer signature. Validator keys are the same on all branches, so this works before the parent is
 * known and keeps forged blocks out of the orphan queue.
 */
export async function verifyProposerSignature(
  { config, bls }: Pick<ValidationContext, "config" | "bls">,
  { proposal, root, signature }: SignedProposal,
  what: string,
): Promise<void> {
  const { slot, proposerIndex } = proposal;
  const domain = config.getDomain(slot, DOMAIN_BEACON_PROPOSER, slot);
  const signingRoot = ssz.phase0.SigningData.hashTreeRoot({ objectRoot: root, domain });
  if (!(await bls.verify([createIndexedSignatureSetFromComponents(proposerIndex, signingRoot, signature)]))) {
    throw reject("bad-signature", `${what} of slot ${slot} is not signed by validator ${proposerIndex}.`);
  }
}

/**
 * Checks the proposer duty and returns the parent's post-state advanced to the slot. This may require an epoch
 * transition, so the signature must be verified first.
 */
export async function verifyProposerDuty(
  { states }: ValidationContext,
  { slot, proposerIndex, parentRoot }: Proposal,
  what: string,
): Promise<CachedBeaconStateAllForks> {
  const preState = await stateOrIgnore(states.preState(toRootHex(parentRoot), slot), what);
  const expectedProposer = preState.epochCtx.getBeaconProposer(slot);
  if (proposerIndex !== expectedProposer) {
    throw reject(
      "wrong-proposer",
      `${what} of slot ${slot} has proposer ${proposerIndex}, expected ${expectedProposer}.`,
    );
  }
  return preState;
}
