import { ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeTimeAtSlot,
  isExecutionStateType,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import { type BeaconBlock, type bellatrix, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ValidationContext } from "./context.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import { refuseFinalizedSlot, refuseUnfitParent, verifyProposer } from "./proposal.ts";
import { refuseFutureSlot } from "./time-window.ts";

const SUBJECT = "The block";

interface ValidatedBlock {
  root: RootHex;
  /** The parent's post-state advanced to the block's slot, on which the import of the block continues. */
  preState: CachedBeaconStateAllForks;
}

/** Judges a block by the rules of gossip; one that passes is the one block of its proposer and slot that ever does. */
export async function validateGossipBlock(
  context: ValidationContext,
  signed: SignedBeaconBlock,
): Promise<ValidatedBlock> {
  const validated = await checkGossipBlock(context, signed);
  noteGossipBlock(context, signed.message, validated.root);
  return validated;
}

/**
 * The rules of the topic beacon_block (p2p-interface.md of phase0 and of each fork up to fulu). Cheap rules come first;
 * the parent's state, which may take an epoch transition, is asked for only by a block that its proposer has signed. Another block
 * of the proposer still passes as long as this one is not noted.
 */
export async function checkGossipBlock(
  context: ValidationContext,
  { message: block, signature }: SignedBeaconBlock,
): Promise<ValidatedBlock> {
  const { config, forkChoice } = context;
  refuseFutureSlot(context, block.slot, SUBJECT);
  const blockRoot = config.getForkTypes(block.slot).BeaconBlock.hashTreeRoot(block);
  const root = toRootHex(blockRoot);
  if (forkChoice.has(root)) throw alreadyKnown(`The block ${root} of slot ${block.slot} is already imported.`);
  refuseFinalizedSlot(context, block.slot, SUBJECT);
  refuseSecondBlock(context, block, root);
  refuseUnfitParent(context, block, SUBJECT);
  refuseWrongPayload(context, block);
  refuseTooManyBlobs(context, block);

  const preState = await verifyProposer(context, { proposal: block, root: blockRoot, signature }, SUBJECT);
  return { root, preState };
}

/** Takes note of a block that passed the rules, unless another block of the proposer was accepted meanwhile. */
export function noteGossipBlock(context: ValidationContext, block: BeaconBlock, root: RootHex): void {
  refuseSecondBlock(context, block, root);
  context.seen.blockProposers.add(block.slot, block.proposerIndex, root);
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
