import { describe, expect, it } from "vitest";
import { Votes } from "./votes.ts";

const BALANCES = Uint16Array.of(10, 20, 30);

describe("Votes", () => {
  it("a first message counts, also for epoch 0; only a later epoch replaces it", () => {
    const votes = new Votes();
    votes.record(0, 1, 0);
    expect([...votes.takeDeltas(3, BALANCES)]).toEqual([0, 10, 0]);
    votes.record(0, 2, 0);
    expect([...votes.takeDeltas(3, BALANCES)]).toEqual([0, 0, 0]);
    votes.record(0, 2, 1);
    expect([...votes.takeDeltas(3, BALANCES)]).toEqual([0, -10, 10]);
  });

  it("new balances replace the old weight", () => {
    const votes = new Votes();
    votes.record(1, 0, 1);
    votes.record(2, 0, 1);
    expect([...votes.takeDeltas(2, BALANCES)]).toEqual([50, 0]);
    votes.record(2, 1, 2);
    expect([...votes.takeDeltas(2, Uint16Array.of(0, 25))]).toEqual([-25, 0]);
    expect([...votes.takeDeltas(2, BALANCES)]).toEqual([-5, 30]);
  });

  it("an equivocating validator loses its weight once and permanently", () => {
    const votes = new Votes();
    votes.record(1, 0, 1);
    votes.takeDeltas(1, BALANCES);
    votes.markEquivocating(1);
    votes.markEquivocating(1);
    expect([...votes.takeDeltas(1, BALANCES)]).toEqual([-20]);
    votes.record(1, 0, 9);
    expect([...votes.takeDeltas(1, BALANCES)]).toEqual([0]);
  });

  it("a validator can equivocate before its first message", () => {
    const votes = new Votes();
    votes.markEquivocating(2);
    votes.record(2, 0, 1);
    expect([...votes.takeDeltas(1, BALANCES)]).toEqual([0]);
  });

  it("a pruned vote has no node, but keeps its epoch", () => {
    const votes = new Votes();
    votes.record(0, 0, 5);
    votes.record(1, 1, 5);
    votes.takeDeltas(2, BALANCES);
    votes.remap(Int32Array.of(-1, 0));
    votes.record(0, 0, 4);
    expect([...votes.takeDeltas(1, BALANCES)]).toEqual([0]);
    votes.record(0, 0, 6);
    votes.record(1, 0, 6);
    expect([...votes.takeDeltas(1, BALANCES)]).toEqual([10]);
  });

  it("holds a million validators", () => {
    const votes = new Votes();
    const count = 1_000_000;
    const balances = new Uint16Array(count).fill(32);
    for (let validator = count - 1; validator >= 0; validator--) votes.record(validator, validator % 2, 1);
    expect([...votes.takeDeltas(2, balances)]).toEqual([16 * count, 16 * count]);
    votes.record(count - 1, 0, 2);
    expect([...votes.takeDeltas(2, balances)]).toEqual([32, -32]);
  });
});
