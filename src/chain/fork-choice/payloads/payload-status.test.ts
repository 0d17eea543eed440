import { describe, expect, it } from "vitest";
import {
  addBlock,
  makeBlock,
  makeForkChoice,
  optimistic,
  root,
} from "../../../../test/support/chain/fork-choice/blocks.ts";
import { ForkChoiceError } from "../error.ts";
import type { ForkChoice } from "../fork-choice.ts";
import { executionBlockOf } from "../types.ts";

const hash = (id: number) => root(id + 0xe000);

/**
 * Pre-merge blocks 1 and 2, then blocks 3 - 4 - 5 with payloads, and block 6 branching off block 3. Each block has its
 * own slot.
 */
function makeTree(): ForkChoice {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 1);
  addBlock(forkChoice, 3, 2, 2, { execution: optimistic(3) });
  addBlock(forkChoice, 4, 3, 3, { execution: optimistic(4) });
  addBlock(forkChoice, 5, 4, 4, { execution: optimistic(5) });
  addBlock(forkChoice, 6, 3, 5, { execution: optimistic(6) });
  forkChoice.onTick(6);
  return forkChoice;
}

const statuses = (forkChoice: ForkChoice) =>
  Object.fromEntries([...forkChoice.all()].map((block) => [Number(block.root), block.execution.status]));

describe("a valid payload", () => {
  it("validates its ancestors, but not descendants or other branches", () => {
    const forkChoice = makeTree();
    forkChoice.onValidPayload(hash(4));
    expect(statuses(forkChoice)).toEqual({
      1: "pre-merge",
      2: "pre-merge",
      3: "valid",
      4: "valid",
      5: "optimistic",
      6: "optimistic",
    });
  });

  it("also does so when the block arrives with it", () => {
    const forkChoice = makeTree();
    addBlock(forkChoice, 7, 5, 6, { execution: { status: "valid", blockHash: hash(7), blockNumber: 7 } });
    expect(statuses(forkChoice)).toMatchObject({ 3: "valid", 4: "valid", 5: "valid", 6: "optimistic" });
  });

  it("applies to every block that carries it", () => {
    const forkChoice = makeTree();
    addBlock(forkChoice, 7, 4, 6, { execution: optimistic(5) });
    forkChoice.onValidPayload(hash(5));
    expect(statuses(forkChoice)).toMatchObject({ 5: "valid", 7: "valid" });
  });

  it("cannot have an invalid ancestor", () => {
    const forkChoice = makeTree();
    forkChoice.onInvalidPayload(root(4), null);
    expect(() => forkChoice.onValidPayload(hash(5))).toThrow(ForkChoiceError);
    expect(statuses(forkChoice)).toMatchObject({ 3: "optimistic", 4: "invalid", 5: "invalid" });
  });
});

describe("an invalid payload", () => {
  it("with an ancestor's hash invalidates everything after that ancestor", () => {
    const forkChoice = makeTree();
    forkChoice.onInvalidPayload(root(5), hash(3));
    expect(statuses(forkChoice)).toMatchObject({ 3: "optimistic", 4: "invalid", 5: "invalid", 6: "optimistic" });
  });

  it("with the zero hash invalidates every payload of the chain", () => {
    const forkChoice = makeTree();
    forkChoice.onInvalidPayload(root(5), root(0));
    expect(statuses(forkChoice)).toEqual({
      1: "pre-merge",
      2: "pre-merge",
      3: "invalid",
      4: "invalid",
      5: "invalid",
      6: "invalid",
    });
  });

  it.each([
    ["no hash", null],
    ["an unknown hash", root(0xbad)],
  ])("with %s invalidates itself and its descendants", (_, latestValidHash) => {
    const forkChoice = makeTree();
    forkChoice.onInvalidPayload(root(4), latestValidHash);
    expect(statuses(forkChoice)).toMatchObject({ 3: "optimistic", 4: "invalid", 5: "invalid", 6: "optimistic" });
  });

  it("adds no weight to its ancestors and is never the head", () => {
    const forkChoice = makeTree();
    forkChoice.onAttestation({ indices: [0, 1], slot: 4, targetEpoch: 0, blockRoot: root(5) });
    expect(forkChoice.updateHead().root).toBe(root(5));
    forkChoice.onInvalidPayload(root(5), hash(3));
    expect(forkChoice.updateHead().root).toBe(root(6));
    expect(forkChoice.weightOf(root(3))).toBe(0);
    expect(() => addBlock(forkChoice, 7, 5, 6, { execution: optimistic(7) })).toThrow(ForkChoiceError);
  });

  it("does not change valid or finalized payloads", () => {
    const forkChoice = makeTree();
    forkChoice.onValidPayload(hash(4));
    expect(forkChoice.onInvalidPayload(root(4), null)?.root).toBe(root(4));
    expect(statuses(forkChoice)).toMatchObject({ 3: "valid", 4: "valid", 5: "optimistic", 6: "optimistic" });
    expect(forkChoice.onInvalidPayload(root(5), root(0))?.root).toBe(root(4));
    expect(statuses(forkChoice)).toMatchObject({ 3: "valid", 4: "valid", 5: "invalid", 6: "optimistic" });
    expect(() => forkChoice.onInvalidPayload(root(99), null)).toThrow(/not in the tree/);

    const unverified = makeForkChoice({ anchor: makeBlock(1, 0, 0, { execution: optimistic(1) }) });
    addBlock(unverified, 2, 1, 1, { execution: optimistic(2) });
    expect(unverified.onInvalidPayload(root(2), root(0))?.root).toBe(root(1));
    expect(statuses(unverified)).toEqual({ 1: "optimistic", 2: "invalid" });
  });

  it.each([
    ["the parent's hash", hash(5), { 3: "optimistic", 4: "optimistic", 5: "optimistic" }],
    ["no hash", null, { 3: "optimistic", 4: "optimistic", 5: "optimistic" }],
    ["an unknown hash", root(0xbad), { 3: "optimistic", 4: "optimistic", 5: "optimistic" }],
    ["an earlier hash", hash(3), { 3: "optimistic", 4: "invalid", 5: "invalid", 6: "optimistic" }],
    ["the zero hash", root(0), { 3: "invalid", 4: "invalid", 5: "invalid", 6: "invalid" }],
  ])("of a block that was not imported, with %s, applies to its ancestors", (_, latestValidHash, expected) => {
    const forkChoice = makeTree();
    const refused = { root: root(7), parentRoot: root(5) };
    expect(forkChoice.isInvalid(refused.root)).toBe(false);
    expect(forkChoice.onRejectedPayload(refused, latestValidHash)).toBeNull();
    expect(statuses(forkChoice)).toMatchObject(expected);
    expect(forkChoice.isInvalid(refused.root)).toBe(true);
    expect(forkChoice.isInvalid(root(5))).toBe(expected[5] === "invalid");
  });

  it("of the justified block leaves no head", () => {
    const forkChoice = makeTree();
    addBlock(forkChoice, 8, 5, 9, { execution: optimistic(8), justified: { epoch: 1, root: root(5) } });
    forkChoice.onInvalidPayload(root(5), null);
    expect(() => forkChoice.updateHead()).toThrow(/justified block/);
  });
});

describe("a reinstated payload", () => {
  it("validates its ancestors, but not descendants or other branches", () => {
    const forkChoice = makeTree();
    forkChoice.onInvalidPayload(root(3), null);
    expect(forkChoice.invalidBranchRoots().map((block) => Number(block.root))).toEqual([3]);
    forkChoice.onReinstatedPayload(root(4));
    expect(statuses(forkChoice)).toEqual({
      1: "pre-merge",
      2: "pre-merge",
      3: "valid",
      4: "valid",
      5: "invalid",
      6: "invalid",
    });
    expect(forkChoice.invalidBranchRoots().map((block) => Number(block.root))).toEqual([5, 6]);
  });

  it("of a block rejected on arrival counts once it is imported", () => {
    const forkChoice = makeTree();
    forkChoice.onRejectedPayload({ root: root(7), parentRoot: root(5) }, hash(5));
    addBlock(forkChoice, 7, 5, 6, { execution: { status: "valid", blockHash: hash(7), blockNumber: 7 } });
    expect(forkChoice.isInvalid(root(7))).toBe(false);
    expect(() => addBlock(forkChoice, 8, 7, 7, { execution: optimistic(8) })).not.toThrow();
  });
});

it("the head has its current payload status", () => {
  const forkChoice = makeTree();
  expect(forkChoice.updateHead().execution.status).toBe("optimistic");
  forkChoice.onValidPayload(executionBlockOf(forkChoice.head)!.blockHash);
  expect(forkChoice.head.execution.status).toBe("valid");
});
