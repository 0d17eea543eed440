import type { RootHex } from "@lodestar/types";
import { ForkChoiceError } from "../error.ts";
import { NO_NODE, type ProtoArray } from "../tree/proto-array.ts";
import type { ForkChoiceBlock, VerifiedPayload } from "../types.ts";

const ZERO_HASH: RootHex = `0x${"00".repeat(32)}`;

/**
 * Marks payloads and all their optimistic ancestors as valid (sync/optimistic.md, "How to optimistically import
 * blocks"). Several blocks can carry the same payload.
 */
export function markPayloadValid(tree: ProtoArray, indices: readonly number[]): void {
  const optimistic = indices.flatMap((index) => optimisticChain(tree, index));
  for (const index of optimistic) setStatus(tree, index, "valid");
}

function optimisticChain(tree: ProtoArray, index: number): number[] {
  const optimistic: number[] = [];
  for (let current = index; current !== NO_NODE; current = tree.payloadParentOf(current)) {
    const { root, execution } = tree.nodeAt(current).block;
    if (execution.status === "invalid") {
      throw new ForkChoiceError(
        "contradicting-payload-status",
        `The payload of block ${root} was reported invalid; it and its descendants cannot be valid.`,
      );
    }
    if (execution.status === "optimistic") optimistic.push(current);
    else if (current !== index) break;
  }
  return optimistic;
}

/** Marks an invalidated payload and its ancestors as valid. */
export function reinstatePayload(tree: ProtoArray, index: number): void {
  for (let current = index; current !== NO_NODE; current = tree.payloadParentOf(current)) {
    const { status } = tree.nodeAt(current).block.execution;
    if (status !== "invalid" && status !== "optimistic") return;
    setStatus(tree, current, "valid");
  }
}

interface InvalidPayload {
  latestValidHash: RootHex | null;
  finalizedRoot: RootHex;
}

/**
 * Applies an INVALID status: uses `latestValidHash` to find the first invalid block, and invalidates that block and all
 * its descendants (sync/optimistic.md, "How to apply latestValidHash when payload status is INVALID"). Finalized and
 * valid blocks keep their status. If the verdict contradicts such blocks, returns the youngest of them and invalidates
 * only its descendants.
 */
export function markPayloadInvalid(tree: ProtoArray, index: number, invalid: InvalidPayload): ForkChoiceBlock | null {
  const ancestor = firstInvalidUpTo(tree, tree.payloadParentOf(index), invalid.latestValidHash);
  return invalidate(tree, { first: ancestor === NO_NODE ? index : ancestor, last: index }, invalid);
}

/** Applies an INVALID status for a child of `parent`. The child is not in the tree. */
export function markAncestorsInvalid(
  tree: ProtoArray,
  parent: number,
  invalid: InvalidPayload,
): ForkChoiceBlock | null {
  const first = firstInvalidUpTo(tree, parent, invalid.latestValidHash);
  return first === NO_NODE ? null : invalidate(tree, { first, last: parent }, invalid);
}

/** Returns the first invalid block on the chain up to `index`, or NO_NODE if the hash does not refer to that chain. */
function firstInvalidUpTo(tree: ProtoArray, index: number, latestValidHash: RootHex | null): number {
  let first = NO_NODE;
  for (let current = index; current !== NO_NODE; current = tree.payloadParentOf(current)) {
    const { execution } = tree.nodeAt(current).block;
    if (execution.status === "pre-merge" || execution.status === "absent") break;
    if (execution.blockHash === latestValidHash) return first;
    first = current;
  }
  // The zero hash means that no payload on the chain is valid. An unknown hash says nothing about the ancestors.
  return latestValidHash === ZERO_HASH ? first : NO_NODE;
}

/** Invalidates the payloads from `first` to `last` and all payloads built on them. */
function invalidate(
  tree: ProtoArray,
  { first, last }: { first: number; last: number },
  { finalizedRoot }: InvalidPayload,
): ForkChoiceBlock | null {
  let from = NO_NODE;
  let contradicting: ForkChoiceBlock | null = null;
  for (let current = last; current >= first; current = tree.payloadParentOf(current)) {
    const { block } = tree.nodeAt(current);
    if (block.execution.status === "valid" || isPayloadFinal(tree, current, finalizedRoot)) {
      contradicting = block;
      break;
    }
    from = current;
  }
  if (from === NO_NODE) return contradicting;
  const affected = new Uint8Array(tree.size);
  for (let current = from; current < tree.size; current++) {
    if (current !== from && affected[tree.payloadParentOf(current)] !== 1) continue;
    affected[current] = 1;
    setStatus(tree, current, "invalid");
  }
  return contradicting;
}

/** Since gloas, finality covers the payload that the finalized block is built on, but not its own. */
function isPayloadFinal(tree: ProtoArray, index: number, finalizedRoot: RootHex): boolean {
  const { block, variants } = tree.nodeAt(index);
  if (block.root === finalizedRoot) return variants === null;
  return tree.isAncestor(index, tree.indexOf(finalizedRoot));
}

/**
 * Adds the payload of a block since gloas. Ignores payloads that are known already. A payload built on an invalid one is
 * invalid itself; a valid one implies valid ancestors.
 */
export function setPayload(tree: ProtoArray, index: number, payload: VerifiedPayload): void {
  const node = tree.nodeAt(index);
  const { bid, execution } = node.block;
  if (bid === undefined || execution.status !== "absent") return;
  const status = tree.isInvalid(index) ? "invalid" : "optimistic";
  const { blockNumber } = payload;
  node.block = { ...node.block, execution: { status, blockHash: bid.blockHash, blockNumber } };
  if (status === "optimistic" && payload.status === "valid") markPayloadValid(tree, [index]);
}

function setStatus(tree: ProtoArray, index: number, status: "valid" | "invalid"): void {
  const node = tree.nodeAt(index);
  node.block = withPayloadStatus(node.block, status);
}

export function withPayloadStatus(block: ForkChoiceBlock, status: "valid" | "optimistic" | "invalid"): ForkChoiceBlock {
  if (block.execution.status === "pre-merge" || block.execution.status === "absent") return block;
  return { ...block, execution: { ...block.execution, status } };
}
