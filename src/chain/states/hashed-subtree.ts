import { BranchNode, hashInto, type Node, zeroHash, zeroNode } from "@chainsafe/persistent-merkle-tree";

export const ROOT_BYTES = 32;

export interface HashedNodes {
  nodes: readonly Node[];
  /** Concatenated roots of the nodes. */
  roots: Uint8Array;
}

/**
 * Builds the tree above the given nodes. Hashes level by level, which is several times faster with the native hasher.
 *
 * @param height height of the nodes above the leaves of the whole tree
 */
export function hashedSubtree({ nodes, roots }: HashedNodes, depth: number, height = 0): Node {
  if (nodes.length === 0) return zeroNode(height + depth);
  for (let level = height; level < height + depth; level++) {
    const parents = new Array<Node>(Math.ceil(nodes.length / 2));
    const parentRoots = new Uint8Array(parents.length * ROOT_BYTES);
    hashInto(asPairs(roots, nodes.length, level), parentRoots);
    const view = new DataView(parentRoots.buffer);
    for (let i = 0; i < parents.length; i++) {
      const parent = new BranchNode(nodes[2 * i]!, nodes[2 * i + 1] ?? zeroNode(level));
      setRoot(parent, view, i * ROOT_BYTES);
      parents[i] = parent;
    }
    nodes = parents;
    roots = parentRoots;
  }
  return nodes[0]!;
}

/** Sets a node's root from the hasher's output. */
export function setRoot(node: Node, roots: DataView, offset: number): void {
  node.h0 = roots.getInt32(offset, true);
  node.h1 = roots.getInt32(offset + 4, true);
  node.h2 = roots.getInt32(offset + 8, true);
  node.h3 = roots.getInt32(offset + 12, true);
  node.h4 = roots.getInt32(offset + 16, true);
  node.h5 = roots.getInt32(offset + 20, true);
  node.h6 = roots.getInt32(offset + 24, true);
  node.h7 = roots.getInt32(offset + 28, true);
}

function asPairs(roots: Uint8Array, count: number, level: number): Uint8Array {
  if (count % 2 === 0) return roots.subarray(0, count * ROOT_BYTES);
  const padded = new Uint8Array((count + 1) * ROOT_BYTES);
  padded.set(roots.subarray(0, count * ROOT_BYTES));
  padded.set(zeroHash(level), count * ROOT_BYTES);
  return padded;
}
