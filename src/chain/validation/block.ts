import { DOMAIN_BEACON_PROPOSER, ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  computeTimeAtSlot,
  createIndexedSignatureSetFromComponents,
  isExecutionStateType,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import { type BeaconBlock, type bellatrix, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { stateOrIgnore, type ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import { refuseFutureSlot } from "./time-window.ts";

interface ValidatedBlock {
  root: RootHex;
  /** The parent's post-state advanced to the block's slot, on which the import of the block continues. */
  preState: CachedBeaconStateAllForks;
}

/**
 * The rules of the topic beacon_block (p2p-interface.md of phase0 and of each fork up to fulu). Cheap rules come first;
 * the parent's state, which may take an epoch transition, is asked for only by a block that its proposer has signed.
 */
export async function validateGossipBlock(
  context: ValidationContext,
  { message: block, signature }: SignedBeaconBlock,
): Promise<ValidatedBlock> {
  const { config, forkChoice, bls, seen, states } = context;
  refuseFutureSlot(context, block.slot, "The block");
  const blockRoot = config.getForkTypes(block.slot).BeaconBlock.hashTreeRoot(block);
  const root = toRootHex(blockRoot);
  if (forkChoice.has(root)) throw alreadyKnown(`The block ${root} of slot ${block.slot} is already imported.`);
  refuseFinalizedSlot(context, block);
  refuseSecondBlock(context, block, root);
  refuseUnfitParent(context, block);
  refuseWrongPayload(context, block);
  refuseTooManyBlobs(context, block);

  if (block.proposerIndex >= states.head.validators.length) {
    throw reject("unknown-validator", `The block's proposer ${block.proposerIndex} is not a validator.`);
  }
  const domain = config.getDomain(block.slot, DOMAIN_BEACON_PROPOSER, block.slot);
  const signingRoot = ssz.phase0.SigningData.hashTreeRoot({ objectRoot: blockRoot, domain });
  if (!(await bls.verify([createIndexedSignatureSetFromComponents(block.proposerIndex, signingRoot, signature)]))) {
    throw reject("bad-signature", `The block of slot ${block.slot} is not signed by validator ${block.proposerIndex}.`);
  }

  const preState = await stateOrIgnore(states.preState(toRootHex(block.parentRoot), block.slot), "The block");
  const expectedProposer = preState.epochCtx.getBeaconProposer(block.slot);
  if (block.proposerIndex !== expectedProposer) {
    throw reject(
      "wrong-proposer",
      `The block of slot ${block.slot} is proposed by validator ${block.proposerIndex}, but it is the turn of ${expectedProposer}.`,
    );
  }

  // Another block of the proposer may have been accepted while this one's signature was verified.
  refuseSecondBlock(context, block, root);
  seen.blockProposers.add(block.slot, block.proposerIndex, root);
  return { root, preState };
}

function refuseFinalizedSlot({ forkChoice }: ValidationContext, { slot }: BeaconBlock): void {
  const finalizedSlot = computeStartSlotAtEpoch(forkChoice.finalized.epoch);
  if (slot <= finalizedSlot) {
    throw ignore(
      "finalized-slot",
      `The block is of slot ${slot}, which is not after the finalized slot ${finalizedSlot}.`,
    );
  }
}

function refuseSecondBlock({ seen }: ValidationContext, { slot, proposerIndex }: BeaconBlock, root: RootHex): void {
  const seenRoot = seen.blockProposers.root(slot, proposerIndex);
  if (seenRoot === undefined) return;
  if (seenRoot === root) throw alreadyKnown(`The block ${root} of slot ${slot} was seen before.`);
  throw ignore(
    "conflicting-block",
    `Validator ${proposerIndex} has already proposed another block for slot ${slot} (${seenRoot}, now ${root}).`,
  );
}

function refuseUnfitParent({ forkChoice }: ValidationContext, { slot, parentRoot }: BeaconBlock): void {
  const root = toRootHex(parentRoot);
  // A parent that fails the consensus rules is never imported, so only its payload can be known to be invalid; that is
  // ignored because an execution engine may be wrong (bellatrix/p2p-interface.md, beacon_block). A parent whose payload
  // is not yet validated is fine.
  if (forkChoice.isInvalid(root)) {
    throw ignore("invalid-parent", `The block's parent ${root} has an invalid execution payload.`);
  }
  const parent = forkChoice.get(root);
  if (!parent) throw ignore("unknown-parent", `The block's parent ${root} is not known.`);
  if (slot <= parent.slot) {
    throw reject(
      "slot-not-after-parent",
      `The block is of slot ${slot}, which is not after its parent's slot ${parent.slot}.`,
    );
  }
  if (!forkChoice.isDescendantOfFinalized(parent.root)) {
    throw reject(
      "not-descended-from-finalized",
      `The block's parent ${parent.root} does not descend from the finalized block ${forkChoice.finalized.root}.`,
    );
  }
}

/** bellatrix/p2p-interface.md, beacon_block: the time in the payload is that of the slot, once there are payloads. */
function refuseWrongPayload({ config, clock, states }: ValidationContext, { slot, body }: BeaconBlock): void {
  if (!("executionPayload" in body) || isBeforeMerge(config.getForkSeq(slot), states.head, body)) return;
  const expected = computeTimeAtSlot(config, slot, clock.genesisTime);
  const { timestamp } = body.executionPayload;
  if (timestamp !== expected) {
    throw reject(
      "wrong-payload-timestamp",
      `The block's payload has the timestamp ${timestamp}, but slot ${slot} begins at ${expected}.`,
    );
  }
}

/** The opposite of bellatrix/beacon-chain.md `is_execution_enabled`; from Capella on the merge lies behind. */
function isBeforeMerge(
  fork: ForkSeq,
  head: CachedBeaconStateAllForks,
  { executionPayload }: { executionPayload: bellatrix.ExecutionPayload },
): boolean {
  if (fork !== ForkSeq.bellatrix) return false;
  if (isExecutionStateType(head) && isMergeTransitionComplete(head)) return false;
  return ssz.bellatrix.ExecutionPayload.equals(executionPayload, ssz.bellatrix.ExecutionPayload.defaultValue());
}

/** deneb/p2p-interface.md, beacon_block; since fulu the limit comes from the blob schedule (EIP-7892). */
function refuseTooManyBlobs({ config }: ValidationContext, { slot, body }: BeaconBlock): void {
  if (!("blobKzgCommitments" in body)) return;
  const epoch = computeEpochAtSlot(slot);
  const limit = config.getMaxBlobsPerBlock(epoch);
  const count = body.blobKzgCommitments.length;
  if (count > limit) {
    throw reject(
      "too-many-blobs",
      `The block commits to ${count} blobs; in epoch ${epoch} at most ${limit} are allowed.`,
    );
  }
}
