import { ForkSeq } from "@lodestar/params";
import {
  blindedOrFullBlockHashTreeRoot,
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeTimeAtSlot,
  isExecutionStateType,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import {
  type BeaconBlock,
  type BlindedBeaconBlock,
  type bellatrix,
  type RootHex,
  type SignedBeaconBlock,
  type SignedBlindedBeaconBlock,
  ssz,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ValidationContext } from "./context.ts";
import type { SignedDuty } from "./duplicate-keys.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import {
  refuseFinalizedSlot,
  refuseUnfitParent,
  refuseUnknownProposer,
  verifyProposerSignature,
  verifyTurn,
} from "./proposal.ts";
import { refuseFutureSlot } from "./time-window.ts";

const SUBJECT = "The block";

/** No rule but that of its time looks at a payload, and the header of the payload tells that, too. */
type AnyBlock = BeaconBlock | BlindedBeaconBlock;

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
  const { slot, proposerIndex } = signed.message;
  const isExpected = context.seen.blockProposers.isExpected(slot, proposerIndex);
  noteGossipBlock(context, signed.message, validated.root);
  if (!isExpected) context.duplicates.received(dutyOf(signed.message, validated.root));
  return validated;
}

/**
 * The rules of the topic beacon_block (p2p-interface.md of phase0 and of each fork up to fulu). What is said of
 * the parent, and be it that it is not known, is said only of a block that its proposer has signed. Another block of the proposer still passes
 * as long as this one is not noted.
 */
export async function checkGossipBlock(
  context: ValidationContext,
  signed: SignedBeaconBlock | SignedBlindedBeaconBlock,
): Promise<ValidatedBlock> {
  const { message: block, signature } = signed;
  const { config, forkChoice } = context;
  refuseFutureSlot(context, block.slot, SUBJECT);
  const blockRoot = blindedOrFullBlockHashTreeRoot(config, block);
  const root = toRootHex(blockRoot);
  if (forkChoice.has(root)) throw alreadyKnown(`The block ${root} of slot ${block.slot} is already imported.`);
  refuseFinalizedSlot(context, block.slot, SUBJECT);
  await reportConflict(context, signed, context.seen.blockProposers.root(block.slot, block.proposerIndex));
  refuseSecondBlock(context, block, root);
  refuseUnknownProposer(context, block, SUBJECT);
  const proposal = { proposal: block, root: blockRoot, signature };
  await verifyProposerSignature(context, proposal, SUBJECT);
  refuseUnfitParent(context, proposal, SUBJECT);
  refuseWrongPayload(context, block);
  refuseTooManyBlobs(context, block);
  return { root, preState: await verifyTurn(context, block, SUBJECT) };
}

/**
 * Reports a block that contradicts an earlier one of the same proposer and slot, if the proposer is a validator of this node. The
 * signature is verified first; a forged block is refused.
 */
export async function reportConflict(
  context: ValidationContext,
  { message: block, signature }: SignedBeaconBlock | SignedBlindedBeaconBlock,
  first: RootHex | undefined,
): Promise<void> {
  if (first === undefined || !context.duplicates.watches(block.proposerIndex)) return;
  const blockRoot = blindedOrFullBlockHashTreeRoot(context.config, block);
  const root = toRootHex(blockRoot);
  if (root === first) return;
  refuseUnknownProposer(context, block, SUBJECT);
  await verifyProposerSignature(context, { proposal: block, root: blockRoot, signature }, SUBJECT);
  context.duplicates.conflict(dutyOf(block, root), first);
}

const dutyOf = ({ slot, proposerIndex }: AnyBlock, root: RootHex): SignedDuty => ({
  validator: proposerIndex,
  kind: "block",
  slot,
  root,
});

/** Takes note of a block that passed the rules, unless another block of the proposer was accepted meanwhile. */
export function noteGossipBlock(context: ValidationContext, block: BeaconBlock, root: RootHex): void {
  refuseSecondBlock(context, block, root);
  context.seen.blockProposers.add(block.slot, block.proposerIndex, root);
}

/** The same for a block that a builder is about to get, and that passes the rules again when it comes back with its payload. */
export function noteBlockForBuilder(context: ValidationContext, block: BlindedBeaconBlock, root: RootHex): void {
  refuseSecondBlock(context, block, root);
  context.seen.blockProposers.expect(block.slot, block.proposerIndex, root);
}

function refuseSecondBlock({ seen }: ValidationContext, { slot, proposerIndex }: AnyBlock, root: RootHex): void {
  const first = seen.blockProposers.root(slot, proposerIndex);
  if (first === undefined) return;
  if (first !== root) {
    throw ignore(
      "conflicting-block",
      `Validator ${proposerIndex} has already proposed another block for slot ${slot} (${first}, now ${root}).`,
    );
  }
  if (seen.blockProposers.isExpected(slot, proposerIndex)) return;
  throw alreadyKnown(`The block ${root} of slot ${slot} was seen before.`);
}

/** bellatrix/p2p-interface.md, beacon_block: the time in the payload is that of the slot, once there are payloads. */
function refuseWrongPayload({ config, clock, states }: ValidationContext, { slot, body }: AnyBlock): void {
  const payload = payloadOf(body);
  // Builders have payloads to offer only after the merge.
  if (!payload || ("executionPayload" in body && isBeforeMerge(config.getForkSeq(slot), states.head, body))) return;
  const expected = computeTimeAtSlot(config, slot, clock.genesisTime);
  const { timestamp } = payload;
  if (timestamp !== expected) {
    throw reject(
      "wrong-payload-timestamp",
      `The block's payload has the timestamp ${timestamp}, but slot ${slot} begins at ${expected}.`,
    );
  }
}

function payloadOf(body: AnyBlock["body"]): { timestamp: number } | undefined {
  if ("executionPayloadHeader" in body) return body.executionPayloadHeader;
  return "executionPayload" in body ? body.executionPayload : undefined;
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
function refuseTooManyBlobs({ config }: ValidationContext, { slot, body }: AnyBlock): void {
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
