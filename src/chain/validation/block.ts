import { ForkSeq } from "@lodestar/params";
import {
  blindedOrFullBlockHashTreeRoot,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
  computeEpochAtSlot,
  computeTimeAtSlot,
  isExecutionStateType,
  isMergeTransitionComplete,
} from "@lodestar/state-transition";
import {
  type BeaconBlock,
  type BlindedBeaconBlock,
  type bellatrix,
  type gloas,
  type RootHex,
  type SignedBeaconBlock,
  ssz,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { bidOf } from "../blocks/bid.ts";
import type { AnySignedBlock } from "../import/apply-block.ts";
import type { ValidationContext } from "./context.ts";
import type { SignedDuty } from "./duplicate-keys.ts";
import { alreadyKnown, ignore, reject } from "./outcome.ts";
import { refuseOtherParent, refuseOtherPayload, refuseUnknownParentPayload } from "./payloads/block-bid.ts";
import { refuseTooManyOperations } from "./payloads/operation-limits.ts";
import {
  refuseFinalizedSlot,
  refuseInvalidParent,
  refuseUnknownProposer,
  verifyProposerDuty,
  verifyProposerSignature,
} from "./proposal.ts";
import { refuseFutureSlot } from "./time-window.ts";

const SUBJECT = "The block";

/** The rules use only the payload's timestamp, which the payload header also has. */
type AnyBlock = BeaconBlock | BlindedBeaconBlock;

/**
 * A block that passed the gossip rules: its proposer was due to propose in the slot and signed the block. Only
 * `validate` creates instances, so the import need not verify these facts again.
 */
export class ValidatedBlock<T extends AnySignedBlock = SignedBeaconBlock> {
  readonly signed: T;
  readonly root: RootHex;
  /** Parent's post-state advanced to the block's slot. */
  readonly preState: CachedBeaconStateAllForks;

  private constructor(signed: T, root: RootHex, preState: CachedBeaconStateAllForks) {
    this.signed = signed;
    this.root = root;
    this.preState = preState;
  }

  /**
   * Checks the rules of the topic beacon_block (p2p-interface.md of phase0 and each fork up to gloas). Checks rules
   * about the parent, including whether it is known, only after the proposer signature. Does not mark the block as
   * seen.
   */
  static async validate<T extends AnySignedBlock>(context: ValidationContext, signed: T): Promise<ValidatedBlock<T>> {
    const { message: block, signature } = signed;
    const { config, forkChoice } = context;
    refuseFutureSlot(context, block.slot, SUBJECT);
    const blockRoot = blindedOrFullBlockHashTreeRoot(config, block);
    const root = toRootHex(blockRoot);
    if (forkChoice.has(root)) throw alreadyKnown(`Block ${root} of slot ${block.slot} is already imported.`);
    refuseFinalizedSlot(context, block.slot, SUBJECT);
    await reportConflict(context, signed, context.seen.blockProposers.root(block.slot, block.proposerIndex));
    refuseSecondBlock(context, block, root);
    const bid = bidOf(block);
    if (bid) refuseTooManyOperations(block.body as gloas.BeaconBlockBody, SUBJECT);
    const parentRoot = toRootHex(block.parentRoot);
    refuseUnknownProposer(context, block, SUBJECT);
    const proposal = { proposal: block, root: blockRoot, signature };
    await verifyProposerSignature(context, proposal, SUBJECT);
    refuseInvalidParent(context, proposal, SUBJECT);
    if (bid) refuseUnknownParentPayload(context, block.slot, bid, parentRoot);
    else refuseWrongPayload(context, block);
    refuseTooManyBlobs(context, block);
    if (bid) refuseOtherParent(bid, parentRoot);
    const preState = await verifyProposerDuty(context, block, SUBJECT);
    if (bid) refuseOtherPayload(context, bid, parentRoot, preState as CachedBeaconStateGloas);
    return new ValidatedBlock(signed, root, preState);
  }
}

/** Validates a block against the gossip rules and marks it as seen. At most one block per proposer and slot passes. */
export async function validateGossipBlock(
  context: ValidationContext,
  signed: SignedBeaconBlock,
): Promise<ValidatedBlock> {
  const validated = await ValidatedBlock.validate(context, signed);
  const { slot, proposerIndex } = signed.message;
  const isExpected = context.seen.blockProposers.isExpected(slot, proposerIndex);
  markBlockSeen(context, signed.message, validated.root);
  if (!isExpected) context.duplicates.received(dutyOf(signed.message, validated.root));
  return validated;
}

/**
 * Reports a block that conflicts with an earlier block by the same proposer for the same slot, if the proposer is
 * connected to this node. Verifies the signature first and rejects a forged block.
 */
export async function reportConflict(
  context: ValidationContext,
  { message: block, signature }: AnySignedBlock,
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

/**
 * Marks a block as seen after it passed the rules. Throws if another block by the proposer was accepted during
 * validation.
 */
export function markBlockSeen(context: ValidationContext, block: BeaconBlock, root: RootHex): void {
  refuseSecondBlock(context, block, root);
  context.seen.blockProposers.add(block.slot, block.proposerIndex, root);
}

/**
 * Marks a blinded block as expected before it is sent to the builder. The block is validated again when it returns with
 * its payload.
 */
export function markBlockExpected(context: ValidationContext, block: BlindedBeaconBlock, root: RootHex): void {
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
  throw alreadyKnown(`Block ${root} of slot ${slot} is already known.`);
}

/** bellatrix/p2p-interface.md, beacon_block: after the merge, the payload's timestamp must match the slot. */
function refuseWrongPayload({ config, clock, states }: ValidationContext, { slot, body }: AnyBlock): void {
  const payload = payloadOf(body);
  // A blinded block implies that the merge is complete.
  if (!payload || ("executionPayload" in body && isBeforeMerge(config.getForkSeq(slot), states.head, body))) return;
  const expected = computeTimeAtSlot(config, slot, clock.genesisTime);
  const { timestamp } = payload;
  if (timestamp !== expected) {
    throw reject(
      "wrong-payload-timestamp",
      `The payload's timestamp is ${timestamp}, but slot ${slot} starts at ${expected}.`,
    );
  }
}

function payloadOf(body: AnyBlock["body"]): { timestamp: number } | undefined {
  if ("executionPayloadHeader" in body) return body.executionPayloadHeader;
  return "executionPayload" in body ? body.executionPayload : undefined;
}

/** Negation of `is_execution_enabled` (bellatrix/beacon-chain.md). From Capella on, the merge is complete. */
function isBeforeMerge(
  fork: ForkSeq,
  head: CachedBeaconStateAllForks,
  { executionPayload }: { executionPayload: bellatrix.ExecutionPayload },
): boolean {
  if (fork !== ForkSeq.bellatrix) return false;
  if (isExecutionStateType(head) && isMergeTransitionComplete(head)) return false;
  return ssz.bellatrix.ExecutionPayload.equals(executionPayload, ssz.bellatrix.ExecutionPayload.defaultValue());
}

/** deneb/p2p-interface.md, beacon_block; since Fulu the limit comes from the blob schedule (EIP-7892). */
function refuseTooManyBlobs({ config }: ValidationContext, { slot, body }: AnyBlock): void {
  const commitments = "blobKzgCommitments" in body ? body.blobKzgCommitments : bidOf({ body })?.blobKzgCommitments;
  if (!commitments) return;
  const epoch = computeEpochAtSlot(slot);
  const limit = config.getMaxBlobsPerBlock(epoch);
  const count = commitments.length;
  if (count > limit) {
    throw reject(
      "too-many-blobs",
      `The block commits to ${count} blobs; in epoch ${epoch} at most ${limit} are allowed.`,
    );
  }
}
