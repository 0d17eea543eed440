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

// Rules that hold for a block, and for all that carries its header.

type Proposal = Pick<phase0.BeaconBlockHeader, "slot" | "proposerIndex" | "parentRoot">;

interface SignedProposal {
  proposal: Proposal;
  /** Of the block, and so of its header. */
  root: Uint8Array;
  signature: Uint8Array;
}

export function refuseFinalizedSlot({ forkChoice }: ValidationContext, slot: Slot, what: string): void {
  const finalizedSlot = computeStartSlotAtEpoch(forkChoice.finalized.epoch);
  if (slot <= finalizedSlot) {
    throw ignore(
      "finalized-slot",
      `${what} is of slot ${slot}, which is not after the finalized slot ${finalizedSlot}.`,
    );
  }
}

export function refuseUnfitParent(
  { forkChoice, invalidBlocks }: ValidationContext,
  { proposal: { slot, parentRoot }, root }: Pick<SignedProposal, "proposal" | "root">,
  what: string,
): void {
  const parentHex = toRootHex(parentRoot);
  // An invalid payload is ignored because an execution engine may be wrong (bellatrix/p2p-interface.md, beacon_block). A parent
  // whose payload is not yet validated is fine. That of one that breaks the rules of consensus is never validated, as nobody
  // waits for what the engine says of it.
  if (forkChoice.isInvalid(parentHex)) {
    throw ignore("invalid-parent", `${what}'s parent ${parentHex} has an invalid execution payload.`);
  }
  const parent = forkChoice.get(parentHex);
  if (!parent && invalidBlocks.has(parentHex)) {
    invalidBlocks.add(toRootHex(root));
    throw reject(
      "invalid-parent",
      `${what}'s parent ${parentHex} breaks the rules of consensus, or builds on a block that does.`,
    );
  }
  if (!parent) throw ignore("unknown-parent", `${what}'s parent ${parentHex} is not known.`);
  if (slot <= parent.slot) {
    throw reject(
      "slot-not-after-parent",
      `${what} is of slot ${slot}, which is not after its parent's slot ${parent.slot}.`,
    );
  }
  if (!forkChoice.isDescendantOfFinalized(parent.root)) {
    throw reject(
      "not-descended-from-finalized",
      `${what}'s parent ${parent.root} does not descend from the finalized block ${forkChoice.finalized.root}.`,
    );
  }
}

/** A number that is too large to be exact is hashed as another one, so that the root of a block does not tell it from that. */
export function refuseUnknownProposer(
  { states, forkChoice }: ValidationContext,
  { proposerIndex, parentRoot }: Proposal,
  what: string,
): void {
  if (proposerIndex < states.head.validators.length) return;
  // Blocks that are missing here may have added the validator.
  const refuse = forkChoice.has(toRootHex(parentRoot)) ? reject : ignore;
  throw refuse("unknown-validator", `${what}'s proposer ${proposerIndex} is not a validator.`);
}

/**
 * Whether the validator that it names signed it. The public key of an index is the same on all branches, so that this holds before
 * the parent is known: what waits for its parent is nothing that anybody can make up.
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
 * Whether it was the proposer's turn. Gives the parent's post-state advanced to the slot, which may take an epoch transition: it is
 * asked for only by what the proposer has signed.
 */
export async function verifyTurn(
  { states }: ValidationContext,
  { slot, proposerIndex, parentRoot }: Proposal,
  what: string,
): Promise<CachedBeaconStateAllForks> {
  const preState = await stateOrIgnore(states.preState(toRootHex(parentRoot), slot), what);
  const expectedProposer = preState.epochCtx.getBeaconProposer(slot);
  if (proposerIndex !== expectedProposer) {
    throw reject(
      "wrong-proposer",
      `${what} of slot ${slot} is proposed by validator ${proposerIndex}, but it is the turn of ${expectedProposer}.`,
    );
  }
  return preState;
}
