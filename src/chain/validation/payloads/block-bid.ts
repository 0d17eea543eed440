import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import type { gloas, RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ValidationContext } from "../context.ts";
import { ignore, reject } from "../outcome.ts";

// Rules of the topic beacon_block about the bid in a block (gloas/p2p-interface.md).

const SUBJECT = "The block";

/** Ignores a block that builds on the payload of its parent until that payload has been verified. */
export function refuseUnknownParentPayload(
  context: ValidationContext,
  slot: Slot,
  bid: gloas.ExecutionPayloadBid,
  parentRoot: RootHex,
): void {
  if (!buildsOnParent(context, bid, parentRoot) || context.forkChoice.isPayloadVerified(parentRoot)) return;
  throw ignore(
    "unknown-parent-payload",
    `${SUBJECT} at slot ${slot} is built on the payload of its parent ${parentRoot}, which has not been verified.`,
  );
}

export function refuseOtherParent(bid: gloas.ExecutionPayloadBid, parentRoot: RootHex): void {
  const actual = toRootHex(bid.parentBlockRoot);
  if (actual === parentRoot) return;
  throw reject("wrong-bid", `${SUBJECT}'s bid is for a child of block ${actual}, but its parent is ${parentRoot}.`);
}

/** Rejects a block that builds neither on its parent's payload nor on the one before. */
export function refuseOtherPayload(
  context: ValidationContext,
  bid: gloas.ExecutionPayloadBid,
  parentRoot: RootHex,
  preState: CachedBeaconStateGloas,
): void {
  if (buildsOnParent(context, bid, parentRoot)) return;
  const [actual, expected] = [toRootHex(bid.parentBlockHash), toRootHex(preState.latestBlockHash)];
  if (actual === expected) return;
  throw reject("wrong-bid", `${SUBJECT}'s bid is built on payload ${actual}, expected ${expected}.`);
}

/** is_parent_node_full. A parent from before gloas has its payload in the block. */
function buildsOnParent(
  { forkChoice }: ValidationContext,
  { parentBlockHash }: gloas.ExecutionPayloadBid,
  parentRoot: RootHex,
): boolean {
  const parent = forkChoice.get(parentRoot);
  return parent?.bid === undefined || parent.bid.blockHash === toRootHex(parentBlockHash);
}
