import type { Node } from "@chainsafe/persistent-merkle-tree";
import { TimeSlice } from "../../async/time-slice.ts";

/**
 * Depth down to which the tree is hashed in slices. State fields are 6 levels deep; a list with limit 2^40 adds about
 * 39 levels, mostly empty at the top. At this depth, a list of a million elements has a few hundred subtrees.
 */
const SLICED_LEVELS = 34;

/** Computes the hash tree root of a state in time slices, so that the event loop is not blocked. */
export async function hashInSlices(root: Node): Promise<void> {
  const slice = new TimeSlice();
  for (const node of unhashed(root, SLICED_LEVELS)) {
    node.rootHashObject;
    await slice.yieldIfDue();
  }
}

/** Yields unhashed nodes down to the given level, children first. */
function* unhashed(node: Node, levels: number): Generator<Node> {
  // The library marks unhashed nodes this way.
  if ((node.h0 as number | null) !== null) return;
  if (levels > 0) {
    yield* unhashed(node.left, levels - 1);
    yield* unhashed(node.right, levels - 1);
  }
  yield node;
}
