import { DEPOSIT_CONTRACT_TREE_DEPTH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { verifyMerkleBranch } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { DepositTree } from "./deposit-tree.ts";

const dataRoots = (count: number) =>
  Array.from({ length: count }, (_, n) => ssz.phase0.DepositMessage.hashTreeRoot({ ...MESSAGE, amount: n }));
const MESSAGE = ssz.phase0.DepositMessage.defaultValue();
const treeOf = (count: number) => DepositTree.empty().with(dataRoots(count));
const rootOfList = (count: number) => ssz.phase0.DepositDataRootList.hashTreeRoot(dataRoots(count));

describe("DepositTree", () => {
  it("has the SSZ root of the deposits, however it was built", () => {
    let grown = DepositTree.empty();
    const all = dataRoots(21);
    for (let count = 0; count <= 21; count++) {
      expect(treeOf(count).root).toEqual(rootOfList(count));
      expect(grown.root).toEqual(rootOfList(count));
      expect(treeOf(21).upTo(count).root).toEqual(rootOfList(count));
      grown = grown.with(all.slice(count, count + 1));
    }
  });

  it("has the root of the empty deposit contract", () => {
    const root = "d70a234731285c6804c2a4f56711ddb8c82c99740f207854891028af34e27e5e";
    expect(Buffer.from(DepositTree.empty().root).toString("hex")).toBe(root);
  });

  it("proves each deposit against its root", () => {
    const tree = treeOf(13);
    for (const [index, leaf] of dataRoots(13).entries()) {
      const proof = tree.proof(index);
      expect(proof).toHaveLength(DEPOSIT_CONTRACT_TREE_DEPTH + 1);
      expect(verifyMerkleBranch(leaf, proof, DEPOSIT_CONTRACT_TREE_DEPTH + 1, index, tree.root)).toBe(true);
    }
  });

  it.each([0, 1, 2, 7, 8, 11, 13])("continues from %i finalized deposits", (final) => {
    const tree = treeOf(13);
    const roots = tree.finalizedRoots(final);
    const restored = DepositTree.fromFinalized(roots, final).with(dataRoots(13).slice(final));
    for (const later of [restored, tree.finalized(final)]) {
      expect(later.root).toEqual(tree.root);
      expect(later.finalizedRoots(final)).toEqual(roots);
      expect(later.upTo(final).root).toEqual(rootOfList(final));
      for (let index = final; index < 13; index++) expect(later.proof(index)).toEqual(tree.proof(index));
      for (let count = final; count <= 13; count++) expect(later.upTo(count).root).toEqual(rootOfList(count));
      expect(later.finalizedRoots(13)).toEqual(tree.finalizedRoots(13));
    }
  });

  it("needs one root per set bit of the finalized count", () => {
    expect(treeOf(13).finalizedRoots(13)).toHaveLength(3);
    expect(() => DepositTree.fromFinalized(treeOf(13).finalizedRoots(13).slice(1), 13)).toThrow("incomplete");
    expect(() => DepositTree.fromFinalized(treeOf(13).finalizedRoots(13), 12)).toThrow("Too many roots");
  });

  it("rejects finalized and future counts", () => {
    expect(() => treeOf(13).finalized(8).upTo(5)).toThrow(RangeError);
    expect(() => treeOf(13).upTo(14)).toThrow(RangeError);
  });
});
