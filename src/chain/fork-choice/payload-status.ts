import type { RootHex } from "@lodestar/types";
import { ForkChoiceError } from "./error.ts";
import { NO_NODE, type ProtoArray } from "./proto-array.ts";

const ZERO_HASH: RootHex = `0x${"00".repeat(32)}`;

/**
 * A payload found valid makes valid every ancestor that was imported optimistically ("How to optimistically import
 * blocks", sync/optimistic.md). Several blocks may carry the payload, so several indices are taken at once.
 */
export function markPayloadValid(tree: ProtoArray, indices: readonly number[]): void {
  const optimistic = indices.flatMap((index) => optimisticChain(tree, index));
  for (const index of optimistic) setStatus(tree, index, "valid");
}

function optimisticChain(tree: ProtoArray, index: number): number[] {
  const optimistic: number[] = [];
  for (let current = index; current !== NO_NODE; current = tree.parentOf(current)) {
    const { root, execution } = tree.nodeAt(current).block;
    if (execution.status === "invalid") {
      throw new ForkChoiceError(
        "contradicting-payload-status",
        `The payload of block ${root} was reported invalid, so neither it nor a payload built on it can be valid.`,
      );
    }
    if (execution.status === "optimistic") optimistic.push(current);
    else if (current !== index) break;
  }
  return optimistic;
}

/**
 * Applies an INVALID payload status: the first invalid block, named by `latestValidHash`, and all its descendants become
 * invalid ("How to apply latestValidHash when payload status is INVALID", sync/optimistic.md).
 */
export function markPayloadInvalid(tree: ProtoArray, index: number, latestValidHash: RootHex | null): void {
  const first = firstInvalid(tree, index, latestValidHash);
  const affected = new Uint8Array(tree.size);
  for (let current = first; current < tree.size; current++) {
    const { block, parent } = tree.nodeAt(current);
    if (current !== first && affected[parent] !== 1) continue;
    affected[current] = 1;
    if (block.execution.status === "valid" || block.execution.status === "pre-merge") {
      throw new ForkChoiceError(
        "contradicting-payload-status",
        `Block ${block.root} has the status ${block.execution.status}; only a payload not yet validated can become invalid.`,
      );
    }
  }
  for (let current = first; current < tree.size; current++) {
    if (affected[current] === 1) setStatus(tree, current, "invalid");
  }
}

function firstInvalid(tree: ProtoArray, index: number, latestValidHash: RootHex | null): number {
  if (latestValidHash === null) return index;
  let child = index;
  for (let current = tree.parentOf(index); current !== NO_NODE; current = tree.parentOf(current)) {
    const { execution } = tree.nodeAt(current).block;
    if (execution.status === "pre-merge") break;
    if (execution.blockHash === latestValidHash) return child;
    child = current;
  }
  // The all-zero hash says that not even the first payload of the chain is valid; a hash that no block of the chain
  // carries says nothing about the ancestors.
  return latestValidHash === ZERO_HASH ? child : index;
}

function setStatus(tree: ProtoArray, index: number, status: "valid" | "invalid"): void {
  const node = tree.nodeAt(index);
  const { block } = node;
  if (block.execution.status === "pre-merge") return;
  node.block = { ...block, execution: { ...block.execution, status } };
}
