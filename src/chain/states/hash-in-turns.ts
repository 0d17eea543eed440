import type { Node } from "@chainsafe/persistent-merkle-tree";
import { TimeSlice } from "../../async/time-slice.ts";

/**
 * The fields of a state are six levels below its root, the elements of a list with room for 2^40 of them another 39 or so, of which
 * the upper half leads to nothing but the first ones. This far down a list of a million is in some hundred pieces.
 */
const LEVELS_IN_TURNS = 34;

/** Hashes a tree, letting others run in between, so that its root is at hand. */
export async function hashInTurns(root: Node): Promise<void> {
  const slice = new TimeSlice();
  for (const node of unhashed(root, LEVELS_IN_TURNS)) {
    node.rootHashObject;
    await slice.yieldIfDue();
  }
}

/** The nodes down to a level that have to be hashed, each after those below it. */
function* unhashed(node: Node, levels: number): Generator<Node> {
  // The library marks so what it has not hashed.
  if ((node.h0 as number | null) !== null) return;
  if (levels > 0) {
    yield* unhashed(node.left, levels - 1);
    yield* unhashed(node.right, levels - 1);
  }
  yield node;
}
