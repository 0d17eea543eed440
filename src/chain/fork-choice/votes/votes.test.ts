import { describe, expect, it } from "vitest";
import { voteTarget } from "../tree/proto-array.ts";
import { Votes } from "./votes.ts";

const BALANCES = Uint16Array.of(10, 20, 30);

/** Records a vote for the node regardless of its payload. */
const record = (votes: Votes, validator: number, node: number, slot: number) =>
  votes.record(validator, voteTarget(node, "pending"), slot);

/** Returns the changes of the nodes' own votes. */
const takeDeltas = (votes: Votes, nodes: number, balances: Uint16Array) =>
  [...votes.takeDeltas(nodes, balances)].filter((_, target) => target % 3 === 0);

describe("Votes", () => {
  it("a first message counts, also for slot 0; only a later one replaces it", () => {
    const votes = new Votes();
    record(votes, 0, 1, 0);
    expect(takeDeltas(votes, 3, BALANCES)).toEqual([0, 10, 0]);
    record(votes, 0, 2, 0);
    expect(takeDeltas(votes, 3, BALANCES)).toEqual([0, 0, 0]);
    record(votes, 0, 2, 1);
    expect(takeDeltas(votes, 3, BALANCES)).toEqual([0, -10, 10]);
  });

  it("new balances replace the old weight", () => {
    const votes = new Votes();
    record(votes, 1, 0, 1);
    record(votes, 2, 0, 1);
    expect(takeDeltas(votes, 2, BALANCES)).toEqual([50, 0]);
    record(votes, 2, 1, 2);
    expect(takeDeltas(votes, 2, Uint16Array.of(0, 25))).toEqual([-25, 0]);
    expect(takeDeltas(votes, 2, BALANCES)).toEqual([-5, 30]);
  });

  it("an equivocating validator loses its weight once and permanently", () => {
    const votes = new Votes();
    record(votes, 1, 0, 1);
    votes.takeDeltas(1, BALANCES);
    votes.markEquivocating(1);
    votes.markEquivocating(1);
    expect(takeDeltas(votes, 1, BALANCES)).toEqual([-20]);
    record(votes, 1, 0, 9);
    expect(takeDeltas(votes, 1, BALANCES)).toEqual([0]);
  });

  it("a validator can equivocate before its first message", () => {
    const votes = new Votes();
    votes.markEquivocating(2);
    record(votes, 2, 0, 1);
    expect(takeDeltas(votes, 1, BALANCES)).toEqual([0]);
  });

  it("a pruned vote has no target, but keeps its slot", () => {
    const votes = new Votes();
    record(votes, 0, 0, 5);
    record(votes, 1, 1, 5);
    votes.takeDeltas(2, BALANCES);
    votes.remap(Int32Array.of(-1, 0));
    record(votes, 0, 0, 4);
    expect(takeDeltas(votes, 1, BALANCES)).toEqual([0]);
    record(votes, 0, 0, 6);
    record(votes, 1, 0, 6);
    expect(takeDeltas(votes, 1, BALANCES)).toEqual([10]);
  });

  it("counts votes for a block with and without its payload apart, also after pruning", () => {
    const votes = new Votes();
    votes.record(0, voteTarget(1, "full"), 3);
    votes.record(1, voteTarget(1, "empty"), 3);
    votes.record(2, voteTarget(1, "pending"), 3);
    expect([...votes.takeDeltas(2, BALANCES)]).toEqual([0, 0, 0, 30, 20, 10]);
    votes.remap(Int32Array.of(-1, 0));
    votes.record(0, voteTarget(0, "empty"), 4);
    expect([...votes.takeDeltas(1, BALANCES)]).toEqual([0, 10, -10]);
  });

  it("holds a million validators", () => {
    const votes = new Votes();
    const count = 1_000_000;
    const balances = new Uint16Array(count).fill(32);
    for (let validator = count - 1; validator >= 0; validator--) record(votes, validator, validator % 2, 1);
    expect(takeDeltas(votes, 2, balances)).toEqual([16 * count, 16 * count]);
    record(votes, count - 1, 0, 2);
    expect(takeDeltas(votes, 2, balances)).toEqual([32, -32]);
  });
});
