import { describe, expect, it } from "vitest";
import {
  addBlock,
  EPOCH,
  GENESIS,
  makeBlock,
  makeForkChoice,
  root,
} from "../../../test/support/chain/fork-choice/blocks.ts";
import { ForkChoiceError } from "./error.ts";
import type { ForkChoice } from "./fork-choice.ts";

const vote = (forkChoice: ForkChoice, indices: number[], block: number, slot: number) =>
  forkChoice.onAttestation({ indices, slot, targetEpoch: Math.floor(slot / EPOCH), blockRoot: root(block) });

/** Two blocks at slot 1 on genesis, with the clock at slot 2. */
function makeFork(): ForkChoice {
  const forkChoice = makeForkChoice();
  addBlock(forkChoice, 2, 1, 1);
  addBlock(forkChoice, 3, 1, 1);
  forkChoice.onTick(2);
  return forkChoice;
}

const codeOf = (action: () => void): string | undefined => {
  try {
    action();
  } catch (error) {
    return error instanceof ForkChoiceError ? error.code : String(error);
  }
  return undefined;
};

describe("head", () => {
  it("is the anchor initially", () => {
    const forkChoice = makeForkChoice();
    expect(forkChoice.head.root).toBe(root(1));
    expect(forkChoice.updateHead().root).toBe(root(1));
  });

  it("breaks ties by the larger root, independent of order", () => {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 0xf, 1, 1);
    addBlock(forkChoice, 0xa, 1, 1);
    addBlock(forkChoice, 0x10, 1, 1);
    expect(forkChoice.updateHead().root).toBe(root(0x10));
  });

  it("follows votes, also when they move", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0, 1], 2, 1);
    expect(forkChoice.updateHead().root).toBe(root(2));
    expect(forkChoice.weightOf(root(1))).toBe(64);
    forkChoice.onTick(EPOCH + 1);
    vote(forkChoice, [0, 1], 3, EPOCH);
    expect(forkChoice.updateHead().root).toBe(root(3));
    expect(forkChoice.weightOf(root(2))).toBe(0);
  });

  it("changes only with updateHead", () => {
    const forkChoice = makeFork();
    expect(forkChoice.head.root).toBe(root(1));
    expect(forkChoice.updateHead()).toBe(forkChoice.head);
    expect(forkChoice.head.root).toBe(root(3));
  });

  it("is correct on a chain of a thousand blocks with a fork at every tenth", () => {
    const forkChoice = makeForkChoice();
    for (let slot = 1; slot <= 1000; slot++) {
      addBlock(forkChoice, slot + 1, slot, slot);
      if (slot % 10 === 0) addBlock(forkChoice, slot + 10_000, slot, slot);
    }
    forkChoice.onTick(1001);
    vote(forkChoice, [0], 1001, 1000);
    expect(forkChoice.updateHead().root).toBe(root(1001));
    expect(forkChoice.weightOf(root(1))).toBe(32);
    expect(forkChoice.canonicalAtSlot(500)?.root).toBe(root(501));
    expect(forkChoice.leaves()).toHaveLength(101);
  });
});

describe("a clock that was set back", () => {
  const HOUR = 300;

  /** A block and a vote for it, received while the clock was far ahead of slot 2. */
  function jumpedAhead(voters: number[]): ForkChoice {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 2, 1, 1);
    addBlock(forkChoice, 9, 2, HOUR);
    forkChoice.onTick(HOUR + 1);
    vote(forkChoice, voters, 9, HOUR);
    expect(forkChoice.updateHead().root).toBe(root(9));
    forkChoice.onClockSetBack(2);
    return forkChoice;
  }

  it("lets future blocks wait, and the chain continue", () => {
    const forkChoice = jumpedAhead([0]);
    expect(forkChoice.currentSlot).toBe(2);
    expect(forkChoice.updateHead().root).toBe(root(2));
    addBlock(forkChoice, 3, 2, 2);
    expect(forkChoice.updateHead().root).toBe(root(3));
  });

  it("lets future votes be replaced", () => {
    const forkChoice = jumpedAhead([0, 1]);
    addBlock(forkChoice, 3, 2, 2);
    addBlock(forkChoice, 4, 2, 2);
    forkChoice.onTick(3);
    vote(forkChoice, [0], 3, 2);
    expect(forkChoice.updateHead().root).toBe(root(3));
    expect(forkChoice.weightOf(root(9))).toBe(32);
    forkChoice.onTick(HOUR + 2);
    expect(forkChoice.updateHead().root).toBe(root(9));
  });

  it("set back again by less, still lets later votes be replaced", () => {
    const forkChoice = jumpedAhead([0, 1]);
    addBlock(forkChoice, 3, 2, 2);
    forkChoice.onTick(3);
    forkChoice.onClockSetBack(2);
    forkChoice.onTick(3);
    vote(forkChoice, [0], 3, 2);
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(3))).toBe(32);
    expect(forkChoice.weightOf(root(9))).toBe(32);
  });

  it("keeps a chain with a majority of votes", () => {
    expect(jumpedAhead([0, 1, 2]).updateHead().root).toBe(root(9));
  });

  it("goes back only by onClockSetBack, forward only by ticks", () => {
    const forkChoice = makeFork();
    forkChoice.onClockSetBack(7);
    expect(forkChoice.currentSlot).toBe(2);
    forkChoice.onTick(1);
    expect(forkChoice.currentSlot).toBe(2);
  });
});

describe("attestations", () => {
  it("of the current slot count from the next slot", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0], 2, 2);
    expect(forkChoice.updateHead().root).toBe(root(3));
    forkChoice.onTick(3);
    expect(forkChoice.updateHead().root).toBe(root(2));
  });

  it("of a later slot wait until that slot is over", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0], 2, 4);
    forkChoice.onTick(4);
    expect(forkChoice.updateHead().root).toBe(root(3));
    forkChoice.onTick(5);
    expect(forkChoice.updateHead().root).toBe(root(2));
  });

  it("in the queue count in slot order, also if the clock skips slots", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0], 3, 3);
    vote(forkChoice, [0], 2, 2);
    forkChoice.onTick(5);
    expect(forkChoice.updateHead().root).toBe(root(2));
  });

  it("for an unknown block are ignored and do not block a later vote", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0], 99, 1);
    vote(forkChoice, [0], 2, 1);
    expect(forkChoice.updateHead().root).toBe(root(2));
  });

  it("for a block after their own slot are ignored and do not block a later vote", () => {
    const forkChoice = makeFork();
    forkChoice.onBlock(makeBlock(4, 3, 2), { timely: false });
    forkChoice.onTick(3);
    vote(forkChoice, [0, 1], 4, 1);
    expect(forkChoice.updateHead().root).toBe(root(4));
    expect(forkChoice.weightOf(root(4))).toBe(0);
    vote(forkChoice, [0], 2, 1);
    expect(forkChoice.updateHead().root).toBe(root(2));
  });

  it("from before the previous epoch count only in blocks", () => {
    const forkChoice = makeFork();
    forkChoice.onTick(2 * EPOCH);
    const late = { indices: [0], slot: EPOCH - 1, targetEpoch: 0, blockRoot: root(2) };
    forkChoice.onAttestation(late, { isFromBlock: false });
    expect(forkChoice.updateHead().root).toBe(root(3));
    forkChoice.onAttestation({ ...late, slot: EPOCH, targetEpoch: 1 }, { isFromBlock: false });
    expect(forkChoice.updateHead().root).toBe(root(2));
    forkChoice.onAttestation({ ...late, indices: [1, 2], blockRoot: root(3) });
    expect(forkChoice.updateHead().root).toBe(root(3));
  });

  it("an equivocating validator loses its weight permanently", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0, 1], 2, 1);
    vote(forkChoice, [2], 3, 1);
    expect(forkChoice.updateHead().root).toBe(root(2));
    forkChoice.onAttesterSlashing([0, 1]);
    expect(forkChoice.updateHead().root).toBe(root(3));
    expect(forkChoice.weightOf(root(2))).toBe(0);
    forkChoice.onTick(EPOCH + 1);
    vote(forkChoice, [0, 1], 2, EPOCH);
    expect(forkChoice.updateHead().root).toBe(root(3));
    expect(forkChoice.weightOf(root(1))).toBe(32);
  });
});

describe("proposer boost", () => {
  it("goes to the first timely block of the slot and expires with the slot", () => {
    const forkChoice = makeFork();
    forkChoice.onBlock(makeBlock(4, 2, 2), { timely: true });
    forkChoice.onBlock(makeBlock(5, 3, 2), { timely: true });
    expect(forkChoice.proposerBoostRoot).toBe(root(4));
    expect(forkChoice.updateHead().root).toBe(root(4));
    // Four validators with 32 ETH over 8 slots give a committee weight of 16; the boost is 40 % of that.
    expect(forkChoice.weightOf(root(4))).toBe(6.4);
    expect(forkChoice.weightOf(root(2))).toBe(6.4);
    forkChoice.onTick(3);
    expect(forkChoice.proposerBoostRoot).toBeNull();
    expect(forkChoice.updateHead().root).toBe(root(5));
    expect(forkChoice.weightOf(root(4))).toBe(0);
  });

  it("moves to the next slot's block", () => {
    const forkChoice = makeFork();
    forkChoice.onBlock(makeBlock(4, 2, 2), { timely: true });
    expect(forkChoice.updateHead().root).toBe(root(4));
    forkChoice.onTick(3);
    forkChoice.onBlock(makeBlock(6, 3, 3), { timely: true });
    expect(forkChoice.updateHead().root).toBe(root(6));
    expect(forkChoice.weightOf(root(2))).toBe(0);
  });

  it("is not given to a late block or a block of an earlier slot", () => {
    const forkChoice = makeFork();
    forkChoice.onBlock(makeBlock(4, 2, 2), { timely: false });
    forkChoice.onTick(3);
    forkChoice.onBlock(makeBlock(5, 2, 2), { timely: true });
    expect(forkChoice.proposerBoostRoot).toBeNull();
  });

  it("is not given to a block with another dependent root than the head", () => {
    const forkChoice = makeFork();
    vote(forkChoice, [0], 3, 1);
    forkChoice.onTick(2 * EPOCH);
    forkChoice.onBlock(makeBlock(4, 2, 2 * EPOCH), { timely: true });
    expect(forkChoice.proposerBoostRoot).toBeNull();
    forkChoice.onBlock(makeBlock(5, 3, 2 * EPOCH), { timely: true });
    expect(forkChoice.proposerBoostRoot).toBe(root(5));
  });

  it("uses the total active balance if given", () => {
    const forkChoice = makeForkChoice({ totalActiveBalance: 256 });
    forkChoice.onTick(1);
    forkChoice.onBlock(makeBlock(2, 1, 1), { timely: true });
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(2))).toBe(12.8);
  });
});

describe("checkpoints", () => {
  const justifiedTwo = { epoch: 1, root: root(2) };

  it("unrealized ones are pulled up at the epoch boundary", () => {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 2, 1, EPOCH);
    addBlock(forkChoice, 3, 2, EPOCH + 6, { unrealizedJustified: justifiedTwo });
    expect(forkChoice.justified).toEqual(GENESIS);
    expect(forkChoice.unrealizedJustified).toEqual(justifiedTwo);
    forkChoice.onTick(2 * EPOCH - 1);
    expect(forkChoice.justified).toEqual(GENESIS);
    forkChoice.onTick(2 * EPOCH);
    expect(forkChoice.justified).toEqual(justifiedTwo);
    expect(forkChoice.finalized).toEqual(GENESIS);
  });

  it("of a block from an earlier epoch count at once", () => {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 2, 1, EPOCH);
    forkChoice.onTick(2 * EPOCH);
    addBlock(forkChoice, 3, 2, EPOCH + 6, { unrealizedJustified: justifiedTwo });
    expect(forkChoice.justified).toEqual(justifiedTwo);
  });

  it("a branch without the justified checkpoint cannot be head, whatever its weight", () => {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 2, 1, EPOCH);
    addBlock(forkChoice, 9, 1, EPOCH);
    forkChoice.onTick(EPOCH + 1);
    vote(forkChoice, [0, 1, 2], 9, EPOCH);
    expect(forkChoice.updateHead().root).toBe(root(9));
    addBlock(forkChoice, 3, 2, EPOCH + 6, { unrealizedJustified: justifiedTwo });
    forkChoice.onTick(2 * EPOCH);
    expect(forkChoice.updateHead().root).toBe(root(3));
  });

  it("a leaf that undoes its parent's justification by a slashing excludes the branch", () => {
    const forkChoice = makeForkChoice();
    const justified = { epoch: 3, root: root(2) };
    addBlock(forkChoice, 2, 1, 3 * EPOCH);
    addBlock(forkChoice, 3, 2, 3 * EPOCH + 5, { unrealizedJustified: justified });
    addBlock(forkChoice, 4, 3, 3 * EPOCH + 6);
    addBlock(forkChoice, 5, 2, 3 * EPOCH + 7, { unrealizedJustified: justified });
    forkChoice.onTick(4 * EPOCH);
    vote(forkChoice, [0, 1, 2], 4, 4 * EPOCH - 1);
    expect(forkChoice.justified).toEqual(justified);
    // filter_block_tree checks only leaves, and the voting source of block 4 is too old.
    expect(forkChoice.updateHead().root).toBe(root(5));
  });

  it("balances are requested when justification moves", () => {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 2, 1, EPOCH);
    vote(forkChoice, [0], 2, EPOCH);
    expect(forkChoice.needsBalances()).toBeNull();
    addBlock(forkChoice, 3, 2, 2 * EPOCH, { justified: justifiedTwo });
    expect(forkChoice.needsBalances()).toEqual(justifiedTwo);
    forkChoice.setJustifiedBalances(justifiedTwo, Uint16Array.of(2048));
    expect(forkChoice.needsBalances()).toBeNull();
    forkChoice.updateHead();
    expect(forkChoice.weightOf(root(2))).toBe(2048);
  });
});

describe("rejected blocks", () => {
  it("report the problem and change nothing", () => {
    const forkChoice = makeFork();
    const add = (...args: Parameters<typeof makeBlock>) =>
      codeOf(() => forkChoice.onBlock(makeBlock(...args), { timely: false }));
    expect(add(7, 99, 2)).toBe("unknown-parent");
    expect(add(7, 3, 3)).toBe("future-slot");
    expect(add(7, 3, 2, { execution: { status: "invalid", blockHash: root(8), blockNumber: 7 } })).toBe(
      "invalid-payload",
    );
    expect(add(7, 1, 0)).toBe("not-after-finalized-slot");
    expect(forkChoice.has(root(7))).toBe(false);
  });

  it("a block off the finalized chain is rejected, also a child of the finalized block", () => {
    const forkChoice = makeForkChoice();
    addBlock(forkChoice, 2, 1, 6);
    addBlock(forkChoice, 3, 2, 7);
    // The checkpoint block of epoch 1 is block 2, so block 3, which precedes that epoch, is not on the finalized chain.
    const finalized = { epoch: 1, root: root(2) };
    expect(forkChoice.isDescendantOfFinalized(root(3))).toBe(true);
    addBlock(forkChoice, 4, 2, 3 * EPOCH, { justified: { epoch: 2, root: root(2) }, finalized });
    expect(forkChoice.isDescendantOfFinalized(root(3))).toBe(false);
    expect(forkChoice.isDescendantOfFinalized(root(4))).toBe(true);
    expect(codeOf(() => addBlock(forkChoice, 5, 3, 3 * EPOCH))).toBe("not-descendant-of-finalized");
    expect(codeOf(() => addBlock(forkChoice, 6, 2, 3 * EPOCH))).toBeUndefined();
  });

  it("an anchor other than its checkpoint's block is rejected", () => {
    expect(codeOf(() => makeForkChoice({ checkpoint: { epoch: 0, root: root(9) } }))).toBe("unknown-block");
  });
});

describe("exported votes", () => {
  it("have the same weight in another fork choice, and later ones replace them", () => {
    const before = makeFork();
    vote(before, [0, 1], 2, 1);
    vote(before, [3], 3, 1);
    before.onAttesterSlashing([1]);
    const after = makeFork();
    after.importVotes(before.exportVotes());
    for (const forkChoice of [before, after]) {
      vote(forkChoice, [1], 3, 1);
      expect(forkChoice.updateHead().root).toBe(root(3));
      expect([2, 3].map((id) => forkChoice.weightOf(root(id)))).toEqual([32, 32]);
      forkChoice.onTick(EPOCH + 1);
      vote(forkChoice, [3], 2, EPOCH);
      expect(forkChoice.updateHead().root).toBe(root(2));
    }
  });

  it("have no node if their block is gone, but supersede earlier ones", () => {
    const before = makeFork();
    before.onTick(EPOCH + 1);
    vote(before, [0], 2, EPOCH);
    const after = makeForkChoice();
    addBlock(after, 3, 1, 1);
    after.onTick(2);
    after.importVotes(before.exportVotes());
    vote(after, [0], 3, 1);
    after.updateHead();
    expect(after.weightOf(root(3))).toBe(0);
  });
});
