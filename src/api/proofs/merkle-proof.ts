import type { Gindex, Node } from "@chainsafe/persistent-merkle-tree";
import { toRootHex } from "@lodestar/utils";

interface ProofNode {
  readonly gindex: Gindex;
  readonly root: string;
}

/**
 * What proves nodes of a tree against its root (ssz/merkle-proofs.md of the specification): the leaves and the siblings on
 * their ways to the root, each by falling generalized index. For a single leaf the siblings are its branch, from the leaf up.
 */
export interface MerkleProof {
  readonly leaves: readonly ProofNode[];
  readonly witnesses: readonly ProofNode[];
}

/** None of the indices may be below another one or outside of the tree. */
export function createMerkleProof(rootNode: Node, gindices: Iterable<Gindex>): MerkleProof {
  const proven = new Set(gindices);
  const onTheWay = new Set<Gindex>();
  for (const leaf of proven) for (let gindex = leaf; gindex > 0n; gindex >>= 1n) onTheWay.add(gindex);

  const leaves: ProofNode[] = [];
  const witnesses: ProofNode[] = [];
  const visit = (node: Node, gindex: Gindex) => {
    if (proven.has(gindex)) leaves.push({ gindex, root: toRootHex(node.root) });
    else if (!onTheWay.has(gindex)) witnesses.push({ gindex, root: toRootHex(node.root) });
    else {
      visit(node.left, 2n * gindex);
      visit(node.right, 2n * gindex + 1n);
    }
  };
  visit(rootNode, 1n);
  return { leaves: leaves.sort(fromLast), witnesses: witnesses.sort(fromLast) };
}

const fromLast = (a: ProofNode, b: ProofNode) => (a.gindex < b.gindex ? 1 : -1);

/** Two of the indices of which the second is below the first; undefined when there are none. */
export function nestedPair(gindices: Iterable<Gindex>): [outer: Gindex, inner: Gindex] | undefined {
  const all = new Set(gindices);
  for (const inner of all) {
    for (let outer = inner >> 1n; outer > 0n; outer >>= 1n) if (all.has(outer)) return [outer, inner];
  }
  return undefined;
}
