import { createProof, getNode, type Node, ProofType } from "@chainsafe/persistent-merkle-tree";
import { ContainerType, ListBasicType, ListCompositeType, UintNumberType } from "@chainsafe/ssz";
import fc from "fast-check";
import { expect, it } from "vitest";
import { rootOfBranch, rootOfMultiproof } from "../../../test/support/api/merkle-verifier.ts";
import { createMerkleProof, findNestedPair } from "./merkle-proof.ts";

const uint64 = new UintNumberType(8);
const Pair = new ContainerType({ left: uint64, right: uint64 });
const Sample = new ContainerType({
  number: uint64,
  pairs: new ListCompositeType(Pair, 16),
  numbers: new ListBasicType(uint64, 1024),
});

const tree = Sample.value_toTree({
  number: 7,
  pairs: [1, 2, 3].map((number) => ({ left: number, right: 10 * number })),
  numbers: Array.from({ length: 50 }, (_, index) => index),
});
const hex = (root: Uint8Array) => `0x${Buffer.from(root).toString("hex")}`;
const rootHex = hex(tree.root);

/** Returns all generalized indices of a tree down to depth 12. */
function gindicesOf(node: Node, gindex = 1n): bigint[] {
  if (node.isLeaf() || gindex > 2n ** 12n) return [gindex];
  return [gindex, ...gindicesOf(node.left, 2n * gindex), ...gindicesOf(node.right, 2n * gindex + 1n)];
}
const all = gindicesOf(tree);

it("creates the same single proofs as persistent-merkle-tree", () => {
  for (const gindex of all) {
    const { leaves, witnesses } = createMerkleProof(tree, [gindex]);
    const branch = witnesses.map(({ root }) => root);
    expect(leaves).toEqual([{ gindex, root: hex(getNode(tree, gindex).root) }]);
    const reference = createProof(tree, { type: ProofType.single, gindex });
    expect(branch).toEqual(reference.type === ProofType.single && reference.witnesses.map(hex));
    expect(rootOfBranch(leaves[0]!.root, branch, gindex)).toBe(rootHex);
  }
});

it("creates minimal multiproofs of disjoint nodes", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 12 }), (chosen) => {
      fc.pre(findNestedPair(chosen) === undefined);
      const { leaves, witnesses } = createMerkleProof(tree, chosen);
      const root = rootOfMultiproof({
        leaves: leaves.map(({ gindex, root }) => ({ gindex: String(gindex), leaf: root })),
        witnesses: witnesses.map(({ gindex, root }) => ({ gindex: String(gindex), node: root })),
      });
      expect(root).toBe(rootHex);
    }),
  );
});

it("finds an index that is a descendant of another", () => {
  expect(findNestedPair([4n, 5n, 6n])).toBeUndefined();
  expect(findNestedPair([19n, 6n, 4n])).toEqual([4n, 19n]);
  expect(findNestedPair([1n, 2n])).toEqual([1n, 2n]);
});
