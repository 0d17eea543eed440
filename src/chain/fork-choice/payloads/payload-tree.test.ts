import { describe, expect, it } from "vitest";
import {
  addBlock,
  EPOCH,
  FORK_CHOICE_CONFIG,
  GENESIS,
  makeBlock,
  makeForkChoice,
  optimistic,
  root,
} from "../../../../test/support/chain/fork-choice/blocks.ts";
import { executionHashOf, forkchoiceState } from "../../engine/forkchoice-state.ts";
import { ForkChoiceError } from "../error.ts";
import type { ForkChoice } from "../fork-choice.ts";
import { deserializeForkChoiceBlock, serializeForkChoiceBlock } from "../stored-fork-choice.ts";
import type { ForkChoiceBlock, ForkChoiceNode, PayloadStatus } from "../types.ts";
import { PayloadVerification } from "./payload-verification.ts";

const PTC_SIZE = 8;
const hashOf = (id: number) => root(id + 0xe000);
const node = (id: number, payloadStatus: PayloadStatus): ForkChoiceNode => ({ root: root(id), payloadStatus });

/** A gloas block on the payload of `payloadParent`: its parent, or an older block if the parent is empty. */
const gloasBlock = (
  id: number,
  parent: number,
  slot: number,
  payloadParent = parent,
  rest: Partial<ForkChoiceBlock> = {},
) =>
  makeBlock(id, parent, slot, {
    execution: { status: "absent" },
    bid: { blockHash: hashOf(id), parentBlockHash: hashOf(payloadParent) },
    proposerIndex: slot,
    ...rest,
  });

function makeGloas(): ForkChoice {
  return makeForkChoice({
    config: { ...FORK_CHOICE_CONFIG, GLOAS_FORK_EPOCH: 0 },
    anchor: gloasBlock(1, 0, 0),
    ptcSize: PTC_SIZE,
  });
}

/** Imports the block in its slot, too late for a boost. */
function add(forkChoice: ForkChoice, ...args: Parameters<typeof gloasBlock>): void {
  const block = gloasBlock(...args);
  forkChoice.onTick(block.slot);
  forkChoice.onBlock(block, { timely: false });
}

const reveal = (forkChoice: ForkChoice, id: number, status: "valid" | "optimistic" = "valid") =>
  forkChoice.onPayload(root(id), { status, blockNumber: id });

const voteOnPayload = (forkChoice: ForkChoice, id: number, slot: number, payloadPresent: boolean) =>
  forkChoice.onPayloadAttestation({
    positions: Array.from({ length: PTC_SIZE / 2 + 1 }, (_, position) => position),
    slot,
    blockRoot: root(id),
    payloadPresent,
    blobDataAvailable: true,
  });

const attest = (forkChoice: ForkChoice, indices: number[], id: number, slot: number, payloadPresent: boolean) =>
  forkChoice.onAttestation({
    indices,
    slot,
    targetEpoch: Math.floor(slot / EPOCH),
    blockRoot: root(id),
    payloadPresent,
  });

function headOf(forkChoice: ForkChoice): ForkChoiceNode {
  forkChoice.updateHead();
  return forkChoice.headNode;
}

const codeOf = (action: () => void) => {
  try {
    action();
  } catch (error) {
    return error instanceof ForkChoiceError ? error.code : String(error);
  }
  return undefined;
};

describe("head with payload status", () => {
  it("is empty until the payload arrives, which raises the revision", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    expect(headOf(forkChoice)).toEqual(node(2, "empty"));
    reveal(forkChoice, 2);
    const revision = Array.from(forkChoice.revision.memory);
    expect(headOf(forkChoice)).toEqual(node(2, "full"));
    expect(Array.from(forkChoice.revision.memory)).not.toEqual(revision);
  });

  it("changes at a tick, once votes count instead of the boosted block", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    reveal(forkChoice, 2);
    forkChoice.onTick(2);
    // The next proposer leaves the payload out, and the committee is silent.
    forkChoice.onBlock(gloasBlock(3, 2, 2, 0), { timely: true });
    expect(headOf(forkChoice)).toEqual(node(3, "empty"));
    expect(forkChoice.shouldExtendPayload(root(2))).toBe(false);
    forkChoice.onTick(3);
    expect(headOf(forkChoice)).toEqual(node(2, "full"));
  });

  it("follows the committee in the next slot, and attestations later", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    reveal(forkChoice, 2);
    voteOnPayload(forkChoice, 2, 1, true);
    forkChoice.onTick(2);
    forkChoice.onBlock(gloasBlock(3, 2, 2, 0), { timely: true });
    expect(headOf(forkChoice)).toEqual(node(2, "full"));
    attest(forkChoice, [0, 1, 2, 3], 2, 2, false);
    forkChoice.onTick(3);
    expect(headOf(forkChoice)).toEqual(node(3, "empty"));
    expect(forkChoice.weightOf(root(2), "empty")).toBe(128);
    expect(forkChoice.weightOf(root(2), "full")).toBe(0);
  });

  it("a proposer builds on the payload unless the committee says that it is late or lacks data", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    reveal(forkChoice, 2);
    expect(forkChoice.shouldBuildOnFull(headOf(forkChoice), 2)).toBe(true);
    voteOnPayload(forkChoice, 2, 1, false);
    expect(forkChoice.payloadTimeliness(root(2), false)).toBe(true);
    expect(forkChoice.shouldBuildOnFull(headOf(forkChoice), 2)).toBe(false);
    expect(forkChoice.shouldBuildOnFull(headOf(forkChoice), 3)).toBe(true);
  });

  it("ignores committee votes for another slot", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    voteOnPayload(forkChoice, 2, 2, true);
    expect(forkChoice.payloadVotesOf(root(2), "payloadPresent")).toEqual(Array(PTC_SIZE).fill(null));
  });

  it("ignores attestations with a payload that is not verified or of a block of their slot", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    forkChoice.onTick(3);
    attest(forkChoice, [0], 2, 2, true);
    attest(forkChoice, [1], 2, 1, true);
    attest(forkChoice, [2], 2, 1, false);
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(2))).toBe(32);
  });
});

/** Block 3 builds on the payload of block 2, block 4 does not. Both have payloads, on which 5 and 6 build. */
function makeVariants(): ForkChoice {
  const forkChoice = makeGloas();
  add(forkChoice, 2, 1, 1, 0);
  reveal(forkChoice, 2, "optimistic");
  add(forkChoice, 3, 2, 2);
  reveal(forkChoice, 3, "optimistic");
  add(forkChoice, 4, 2, 3, 0);
  reveal(forkChoice, 4, "optimistic");
  add(forkChoice, 5, 3, 4);
  add(forkChoice, 6, 4, 5);
  forkChoice.onTick(6);
  return forkChoice;
}

describe("payload verdicts", () => {
  it("a block on a payload waits for it, and one on the empty parent does not", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    expect(codeOf(() => add(forkChoice, 3, 2, 2))).toBe("parent-payload-unknown");
    add(forkChoice, 4, 2, 2, 0);
    reveal(forkChoice, 2);
    add(forkChoice, 3, 2, 2);
    expect(forkChoice.parentPayloadStatus(root(3))).toBe("full");
    expect(forkChoice.parentPayloadStatus(root(4))).toBe("empty");
  });

  it("an invalid payload removes the full variant and the branches on it, but not the block", () => {
    const forkChoice = makeVariants();
    attest(forkChoice, [0, 1, 2], 5, 4, false);
    expect(headOf(forkChoice).root).toBe(root(5));
    expect(forkChoice.onInvalidPayload(root(2), null)).toBeNull();
    expect(headOf(forkChoice).root).toBe(root(6));
    expect([2, 3, 4, 5, 6].map((id) => forkChoice.isInvalid(root(id)))).toEqual([false, true, false, true, false]);
    expect(forkChoice.weightOf(root(2), "full")).toBe(0);
    expect(forkChoice.invalidBranchRoots().map((block) => block.root)).toEqual([root(2)]);
    expect(codeOf(() => add(forkChoice, 7, 2, 6))).toBe("invalid-payload");
    expect(codeOf(() => add(forkChoice, 7, 5, 6, 3))).toBe("invalid-payload");
    add(forkChoice, 7, 2, 6, 0);
  });

  it("a payload that is built on an invalid one is invalid, until it is reinstated", () => {
    const forkChoice = makeVariants();
    forkChoice.onInvalidPayload(root(2), null);
    reveal(forkChoice, 5);
    expect(forkChoice.get(root(5))?.execution.status).toBe("invalid");
    forkChoice.onReinstatedPayload(root(5));
    expect([2, 3, 5].map((id) => forkChoice.get(root(id))?.execution.status)).toEqual(["valid", "valid", "valid"]);
    expect(forkChoice.isInvalid(root(5))).toBe(false);
  });

  it("latestValidHash finds the first invalid payload over empty blocks", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    reveal(forkChoice, 2, "optimistic");
    add(forkChoice, 3, 2, 2);
    add(forkChoice, 4, 3, 3, 2);
    reveal(forkChoice, 4, "optimistic");
    add(forkChoice, 5, 4, 4);
    reveal(forkChoice, 5, "optimistic");
    forkChoice.onInvalidPayload(root(5), hashOf(2));
    const statusOf = (id: number) => forkChoice.get(root(id))?.execution.status;
    expect([2, 3, 4, 5].map(statusOf)).toEqual(["optimistic", "absent", "invalid", "invalid"]);
    expect([2, 3, 4, 5].map((id) => forkChoice.isInvalid(root(id)))).toEqual([false, false, false, true]);
  });

  it("a valid payload implies valid ancestors, over empty blocks", () => {
    const forkChoice = makeVariants();
    reveal(forkChoice, 6);
    const statusOf = (id: number) => forkChoice.get(root(id))?.execution.status;
    expect([2, 3, 4, 6].map(statusOf)).toEqual(["optimistic", "optimistic", "valid", "valid"]);
    const payloads = new PayloadVerification({
      config: undefined as never,
      forkChoice,
      unverifiedFrom: null,
      orphaned: [],
    });
    expect(payloads.isOptimistic({ root: root(5), slot: 4 })).toBe(true);
    expect(payloads.isOptimistic({ root: root(3), slot: 2 })).toBe(true);
    expect(payloads.isNodeOptimistic(node(2, "empty"))).toBe(false);
    expect(payloads.isNodeOptimistic(node(2, "full"))).toBe(true);
    expect(payloads.isNodeOptimistic(node(6, "full"))).toBe(false);
    expect(payloads.oldestUnverified(root(5))).toBe(1);
  });
});

describe("queries", () => {
  it("ancestors and execution hashes follow the variants", () => {
    const forkChoice = makeVariants();
    expect(forkChoice.ancestorNodeAtSlot(node(5, "pending"), 1)).toEqual(node(2, "full"));
    expect(forkChoice.ancestorNodeAtSlot(node(6, "pending"), 2)).toEqual(node(2, "empty"));
    expect(forkChoice.ancestorNodeAtSlot(node(6, "empty"), 5)).toEqual(node(6, "empty"));
    expect(forkChoice.payloadBlock(node(6, "empty"))?.root).toBe(root(4));
    expect(forkChoice.payloadBlock(node(4, "empty"))).toBeUndefined();
    expect(executionHashOf(forkChoice, node(4, "empty"))).toBe(hashOf(0));
    expect(executionHashOf(forkChoice, node(4, "full"))).toBe(hashOf(4));
    // The finalized block's own payload may still be reorganised.
    expect(forkchoiceState(forkChoice, hashOf(4)).finalizedBlockHash).toBe(hashOf(0));
  });

  it("a snapshot restores payloads, committee votes and the head's status", () => {
    const forkChoice = makeGloas();
    add(forkChoice, 2, 1, 1, 0);
    reveal(forkChoice, 2);
    voteOnPayload(forkChoice, 2, 1, true);
    expect(headOf(forkChoice)).toEqual(node(2, "full"));
    const snapshot = forkChoice.capture();
    voteOnPayload(forkChoice, 2, 1, false);
    forkChoice.onInvalidPayload(root(2), null);
    add(forkChoice, 3, 2, 2, 0);
    forkChoice.updateHead();
    forkChoice.restore(snapshot);
    expect(forkChoice.headNode).toEqual(node(2, "full"));
    expect(forkChoice.payloadTimeliness(root(2), true)).toBe(true);
    expect(headOf(forkChoice)).toEqual(node(2, "full"));
    expect(forkChoice.has(root(3))).toBe(false);
  });

  it("stored blocks and votes restore weights and the head's status", () => {
    const forkChoice = makeVariants();
    attest(forkChoice, [0, 1], 2, 5, true);
    attest(forkChoice, [2], 2, 5, false);
    forkChoice.updateHead();
    const restored = makeGloas();
    for (const block of forkChoice.all()) {
      restored.onTick(block.slot);
      restored.restoreBlock(deserializeForkChoiceBlock(serializeForkChoiceBlock(block), block));
    }
    restored.importVotes(forkChoice.exportVotes());
    restored.onTick(6);
    expect(headOf(restored)).toEqual(headOf(forkChoice));
    for (const status of ["pending", "empty", "full"] as const) {
      expect(restored.weightOf(root(2), status)).toBe(forkChoice.weightOf(root(2), status));
    }
    expect(restored.weightOf(root(2), "full")).toBe(64);
  });

  it("pruning keeps the variants of the finalized block and the votes for them", () => {
    const forkChoice = makeGloas();
    const finalized = { epoch: 1, root: root(2) };
    add(forkChoice, 2, 1, EPOCH, 0);
    reveal(forkChoice, 2);
    add(forkChoice, 3, 1, EPOCH + 1, 0);
    add(forkChoice, 4, 2, EPOCH + 2, 2, { justified: finalized, finalized });
    attest(forkChoice, [0, 1], 2, EPOCH + 2, true);
    forkChoice.onTick(EPOCH + 3);
    forkChoice.setJustifiedBalances(finalized, new Uint16Array(4).fill(32));
    expect(headOf(forkChoice).root).toBe(root(4));
    expect(forkChoice.prune().map((block) => block.root)).toEqual([root(1), root(3)]);
    expect(headOf(forkChoice)).toEqual(node(4, "empty"));
    expect(forkChoice.weightOf(root(2), "full")).toBe(64);
    expect(forkChoice.payloadBlock(node(4, "empty"))?.root).toBe(root(2));
    expect(forkChoice.payloadBlock(node(2, "empty"))).toBeUndefined();
  });
});

describe("crossing the fork", () => {
  const makeCrossing = () => {
    const forkChoice = makeForkChoice({ config: { ...FORK_CHOICE_CONFIG, GLOAS_FORK_EPOCH: 1 }, ptcSize: PTC_SIZE });
    addBlock(forkChoice, 2, 1, EPOCH - 1, { execution: optimistic(2) });
    add(forkChoice, 3, 2, EPOCH);
    return forkChoice;
  };

  it("the first gloas block has a full parent, and votes for the parent count whatever their index", () => {
    const forkChoice = makeCrossing();
    expect(forkChoice.parentPayloadStatus(root(3))).toBe("full");
    forkChoice.onTick(EPOCH + 1);
    attest(forkChoice, [0], 2, EPOCH, true);
    attest(forkChoice, [1], 2, EPOCH, false);
    expect(headOf(forkChoice)).toEqual(node(3, "empty"));
    expect(forkChoice.weightOf(root(2))).toBe(64);
  });

  it("an invalid payload before the fork invalidates blocks after it", () => {
    const forkChoice = makeCrossing();
    reveal(forkChoice, 3, "optimistic");
    forkChoice.onInvalidPayload(root(2), null);
    expect([2, 3].map((id) => forkChoice.isInvalid(root(id)))).toEqual([true, true]);
    expect(headOf(forkChoice)).toEqual({ root: GENESIS.root, payloadStatus: "full" });
  });

  it("a vote of a later slot replaces one of the same epoch only since the fork", () => {
    const forkChoice = makeCrossing();
    forkChoice.onTick(EPOCH + 4);
    attest(forkChoice, [0], 3, EPOCH, false);
    attest(forkChoice, [1], 2, EPOCH - 1, false);
    attest(forkChoice, [1], 1, EPOCH - 1, false);
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(3))).toBe(32);
    expect(forkChoice.weightOf(root(2))).toBe(64);
    attest(forkChoice, [0], 2, EPOCH + 1, false);
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(3))).toBe(0);
  });
});
