import { BitArray } from "@chainsafe/ssz";
import { SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import type { altair } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import {
  SeenAggregates,
  SeenAggregators,
  SeenAttesters,
  SeenBlockProposers,
  SeenContributions,
  SeenSidecars,
  SeenSyncMessages,
} from "./seen.ts";

const rootOf = (value: number) => toRootHex(new Uint8Array(32).fill(value));
const bitsOf = (...positions: number[]) =>
  BitArray.fromBoolArray(Array.from({ length: 16 }, (_, position) => positions.includes(position)));

describe("SeenAttesters", () => {
  it("records each validator and epoch once, with its data", () => {
    const seen = new SeenAttesters();
    expect(seen.has(5, 1000)).toBe(false);
    expect(seen.add(5, 1000, rootOf(1))).toBe(true);
    expect(seen.add(5, 1000, rootOf(2))).toBe(false);
    expect(seen.dataRoot(5, 1000)).toBe(rootOf(1));
    expect(seen.has(5, 999)).toBe(false);
    expect(seen.has(6, 1000)).toBe(false);
  });

  it("grows with higher indices", () => {
    const seen = new SeenAttesters();
    for (const validator of [3, 0, 64, 1_000_000, 500_000]) {
      expect(seen.add(1, validator, rootOf(validator % 3))).toBe(true);
    }
    for (const validator of [0, 3, 64, 500_000, 1_000_000]) {
      expect(seen.dataRoot(1, validator)).toBe(rootOf(validator % 3));
    }
    expect(seen.has(1, 2_000_000)).toBe(false);
  });

  it("keeps the current and the previous epoch", () => {
    const seen = new SeenAttesters();
    for (const epoch of [4, 5, 6]) seen.add(epoch, 1, rootOf(1));
    seen.prune(6);
    expect([4, 5, 6].map((epoch) => seen.has(epoch, 1))).toEqual([false, true, true]);
  });
});

describe("SeenAggregators", () => {
  it("records each validator and epoch once", () => {
    const seen = new SeenAggregators();
    const validators = [0, 7, 8, 100, 1_000_001];
    for (const validator of validators) {
      expect(seen.add(2, validator)).toBe(true);
      expect(seen.add(2, validator)).toBe(false);
    }
    expect(validators.every((validator) => seen.has(2, validator))).toBe(true);
    expect([1, 6, 9, 101, 1_000_000].some((validator) => seen.has(2, validator))).toBe(false);
    expect(seen.has(3, 0)).toBe(false);
    seen.prune(3);
    expect(seen.has(2, 7)).toBe(true);
    seen.prune(4);
    expect(seen.has(2, 7)).toBe(false);
  });
});

describe("SeenAggregates", () => {
  it("recognizes an aggregate covered by an earlier one", () => {
    const seen = new SeenAggregates();
    expect(seen.add(1, rootOf(1), 0, bitsOf(1, 2))).toBe(true);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(1, 2))).toBe(true);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(2))).toBe(true);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(2, 3))).toBe(false);
    expect(seen.hasSuperset(1, rootOf(1), 1, bitsOf(2))).toBe(false);
    expect(seen.hasSuperset(1, rootOf(2), 0, bitsOf(2))).toBe(false);
    seen.add(1, rootOf(1), 0, bitsOf(3));
    // No aggregate contains all three attesters.
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(1, 2, 3))).toBe(false);
    seen.prune(2);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(2))).toBe(true);
    seen.prune(3);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(2))).toBe(false);
  });

  it("keeps the largest sets", () => {
    const seen = new SeenAggregates();
    seen.add(1, rootOf(1), 0, bitsOf(0, 1, 2));
    for (let i = 0; i < 16; i++) seen.add(1, rootOf(1), 0, bitsOf(i, (i + 5) % 16));
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(0, 2))).toBe(true);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(15, 4))).toBe(true);
  });

  it("copies the given bits", () => {
    const seen = new SeenAggregates();
    const bits = bitsOf(1);
    seen.add(1, rootOf(1), 0, bits);
    bits.set(2, true);
    expect(seen.hasSuperset(1, rootOf(1), 0, bitsOf(2))).toBe(false);
  });
});

describe("SeenBlockProposers", () => {
  it("keeps the first block of a proposer", () => {
    const seen = new SeenBlockProposers();
    expect(seen.add(9, 4, rootOf(1))).toBe(true);
    expect(seen.add(9, 4, rootOf(2))).toBe(false);
    expect(seen.root(9, 4)).toBe(rootOf(1));
    expect(seen.root(9, 5)).toBeUndefined();
    seen.prune(8);
    expect(seen.root(9, 4)).toBe(rootOf(1));
    seen.prune(9);
    expect(seen.root(9, 4)).toBeUndefined();
  });

  it("also recognizes a block expected from a builder", () => {
    const seen = new SeenBlockProposers();
    seen.expect(9, 4, rootOf(1));
    seen.expect(9, 4, rootOf(2));
    expect([seen.root(9, 4), seen.isExpected(9, 4), seen.isExpected(9, 5)]).toEqual([rootOf(1), true, false]);
    const snapshot = seen.capture();
    expect(seen.add(9, 4, rootOf(2))).toBe(false);
    expect(seen.add(9, 4, rootOf(1))).toBe(true);
    expect(seen.add(9, 4, rootOf(1))).toBe(false);
    seen.expect(9, 4, rootOf(1));
    expect(seen.isExpected(9, 4)).toBe(false);
    seen.restore(snapshot);
    expect(seen.isExpected(9, 4)).toBe(true);
  });
});

describe("SeenSidecars", () => {
  it("records the block of the first sidecar of each index", () => {
    const seen = new SeenSidecars();
    expect(seen.add(9, 4, 0, rootOf(1))).toBe(true);
    expect(seen.add(9, 4, 127, rootOf(1))).toBe(true);
    expect(seen.add(9, 4, 127, rootOf(2))).toBe(false);
    expect(seen.add(9, 4, 5, rootOf(2))).toBe(true);
    const snapshot = seen.capture();
    seen.add(9, 4, 6, rootOf(1));
    const [one, two] = [rootOf(1), rootOf(2)];
    expect([0, 5, 6, 127, 1].map((index) => seen.root(9, 4, index))).toEqual([one, two, one, one, undefined]);
    expect(seen.root(9, 5, 0)).toBeUndefined();
    seen.prune(8);
    expect(seen.root(9, 4, 6)).toBe(rootOf(1));
    seen.prune(9);
    expect(seen.root(9, 4, 0)).toBeUndefined();
    seen.restore(snapshot);
    expect([0, 6].map((index) => seen.root(9, 4, index))).toEqual([rootOf(1), undefined]);
  });
});

describe("SeenSyncMessages", () => {
  it("separates slots, subcommittees and validators", () => {
    const seen = new SeenSyncMessages();
    expect(seen.add(5, 1, 77, rootOf(1))).toBe(true);
    expect(seen.add(5, 1, 77, rootOf(2))).toBe(false);
    expect(seen.root(5, 1, 77)).toBe(rootOf(1));
    expect(seen.has(5, 2, 77)).toBe(false);
    expect(seen.has(5, 1, 78)).toBe(false);
    expect(seen.has(6, 1, 77)).toBe(false);
    seen.add(5, 3, 77);
    expect(seen.has(5, 3, 77)).toBe(true);
    seen.prune(7);
    expect(seen.has(5, 1, 77)).toBe(true);
    seen.prune(8);
    expect(seen.has(5, 1, 77)).toBe(false);
  });
});

describe("SeenContributions", () => {
  const contribution = (subcommitteeIndex: number, ...positions: number[]): altair.SyncCommitteeContribution => {
    const aggregationBits = BitArray.fromBitLen(SYNC_COMMITTEE_SUBNET_SIZE);
    for (const position of positions) aggregationBits.set(position, true);
    const beaconBlockRoot = new Uint8Array(32).fill(1);
    return { slot: 5, beaconBlockRoot, subcommitteeIndex, aggregationBits, signature: new Uint8Array(96) };
  };

  it("recognizes aggregators, and contributions without new participants", () => {
    const seen = new SeenContributions();
    seen.add(contribution(1, 0, 3), 42);
    expect(seen.hasAggregator(5, 1, 42)).toBe(true);
    expect(seen.hasAggregator(5, 2, 42)).toBe(false);
    expect(seen.hasAggregator(6, 1, 42)).toBe(false);
    expect(seen.hasSuperset(contribution(1, 3))).toBe(true);
    expect(seen.hasSuperset(contribution(1, 3, 4))).toBe(false);
    expect(seen.hasSuperset(contribution(2, 3))).toBe(false);
    expect(seen.hasSuperset({ ...contribution(1, 3), beaconBlockRoot: new Uint8Array(32) })).toBe(false);
    seen.prune(8);
    expect(seen.hasAggregator(5, 1, 42)).toBe(false);
    expect(seen.hasSuperset(contribution(1, 3))).toBe(false);
  });
});
