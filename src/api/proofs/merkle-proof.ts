import type { Gindex, Node } from "@chainsafe/persistent-merkle-tree";
import { toRootHex } from "@lodestar/utils";

interface ProofNode {
  readonly gindex: Gindex;
  readonly root: string;
}

/**
 * Merkle multiproof (ssz/merkle-proofs.md): the proven nodes and the witnesses needed to compute the root, both in
 * descending order of generalized index. For a single leaf, the witnesses are its branch from the leaf up.
 */
export interface MerkleProof {
  readonly leaves: readonly ProofNode[];
  readonly witnesses: readonly ProofNode[];
}

/** Creates a proof of some nodes. Each index must be in the tree, and none may be a descendant of another. */
export function createMerkleProof(rootNode: Node, gindices: Iterable<Gindex>): MerkleProof {
  const leafGindices = new Set(gindices);
  const ancestors = new Set<Gindex>();
  for (const leaf of leafGindices) for (let gindex = leaf; gindex > 0n; gindex >>= 1n) ancestors.add(gindex);

  const leaves: ProofNode[] = [];
  const witnesses: ProofNode[] = [];
  const visit = (node: Node, gindex: Gindex) => {
    if (leafGindices.has(gindex)) leaves.push({ gindex, root: toRootHex(node.root) });
    else if (!ancestors.has(gindex)) witnesses.push({ gindex, root: toRootHex(node.root) });
    else {
      visit(node.left, 2n * gindex);
      visit(node.right, 2n * gindex + 1n);
    }
  };
  visit(rootNode, 1n);
  return { leaves: leaves.sort(byDescendingGindex), witnesses: witnesses.sort(byDescendingGindex) };
}

const byDescendingGindex = (a: ProofNode, b: ProofNode) => (a.gindex < b.gindex ? 1 : -1);

/** Returns an index and one of its descendants, or undefined if there is no such pair. */
export function findNestedPair(gindices: Iterable<Gindex>): [outer: Gindex, inner: Gindex] | undefined {
  const all = new Set(gindices);
  for (const inner of all) {
    for (let outer = inner >> 1n; outer > 0n; outer >>= 1n) if (all.has(outer)) return [outer, inner];
  }
  return undefined;
}
