import { aggregateSignatures, fastAggregateVerify, Signature } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import { interopSecretKeys } from "@lodestar/state-transition";
import { describe, expect, it } from "vitest";
import { type Aggregate, AggregateSet } from "./aggregate-set.ts";
import { sumBytes } from "./pooled-signature.ts";

const SIZE = 12;
const secretKeys = interopSecretKeys(SIZE);
const message = new Uint8Array(32).fill(7);
const signatures = secretKeys.map((secretKey) => secretKey.sign(message));

function aggregate(...positions: number[]): Aggregate {
  const bits = BitArray.fromBoolArray(Array.from({ length: SIZE }, (_, i) => positions.includes(i)));
  return { bits, signature: aggregateSignatures(positions.map((position) => signatures[position]!)).toBytes() };
}

const single = (position: number) => signatures[position]!.toBytes();
const positionsOf = ({ bits }: { bits: BitArray }) => bits.getTrueBitIndexes();

function expectVerified({ bits, signature }: Aggregate) {
  const pubkeys = bits.getTrueBitIndexes().map((position) => secretKeys[position]!.toPublicKey());
  expect(fastAggregateVerify(message, pubkeys, Signature.fromBytes(signature, true))).toBe(true);
}

describe("AggregateSet", () => {
  it("returns nothing if empty", () => {
    const set = new AggregateSet(SIZE);
    expect(set.best()).toBeUndefined();
    expect(set.list()).toEqual([]);
    expect(set.addAggregate({ bits: BitArray.fromBitLen(SIZE), signature: single(0) })).toBe("known");
  });

  it("sums single signatures, each once", () => {
    const set = new AggregateSet(SIZE);
    expect(set.addSingle(3, single(3))).toBe("added");
    expect(set.addSingle(9, single(9))).toBe("added");
    expect(set.addSingle(3, single(3))).toBe("known");
    expect(positionsOf(set.best()!)).toEqual([3, 9]);
    expectVerified(set.best()!);
  });

  it("does not change earlier results", () => {
    const set = new AggregateSet(SIZE);
    set.addSingle(3, single(3));
    const before = set.list()[0]!;
    set.addSingle(4, single(4));
    expect(positionsOf(before)).toEqual([3]);
    expectVerified(before);
  });

  it("drops subsets of other aggregates and of the singles", () => {
    const set = new AggregateSet(SIZE);
    expect(set.addAggregate(aggregate(1, 2))).toBe("added");
    expect(set.addAggregate(aggregate(1, 2))).toBe("known");
    expect(set.addAggregate(aggregate(2))).toBe("known");
    expect(set.addAggregate(aggregate(1, 2, 3))).toBe("added");
    expect(set.list().map(positionsOf)).toEqual([[1, 2, 3]]);
    for (const position of [1, 2, 3, 4]) set.addSingle(position, single(position));
    expect(set.list().map(positionsOf)).toEqual([[1, 2, 3, 4]]);
    expect(set.addAggregate(aggregate(2, 4))).toBe("known");
  });

  it("sums only disjoint aggregates", () => {
    const set = new AggregateSet(SIZE);
    set.addAggregate(aggregate(0, 1, 2, 3));
    set.addAggregate(aggregate(3, 4, 5));
    set.addAggregate(aggregate(6, 7));
    set.addSingle(8, single(8));
    const best = set.best()!;
    expect(positionsOf(best)).toEqual([0, 1, 2, 3, 6, 7, 8]);
    expectVerified(best);
    for (const covering of set.coverings()) {
      expectVerified({ bits: covering.bits, signature: sumBytes(covering.signatures) });
    }
  });

  it("finds a larger union than the one starting from the largest aggregate", () => {
    const set = new AggregateSet(SIZE);
    set.addAggregate(aggregate(2, 3, 4, 5));
    set.addAggregate(aggregate(0, 1, 2));
    set.addAggregate(aggregate(5, 6, 7));
    expect(positionsOf(set.best()!)).toEqual([0, 1, 2, 5, 6, 7]);
  });

  it("keeps the largest aggregates", () => {
    const set = new AggregateSet(SIZE);
    for (let i = 0; i < SIZE; i++) set.addAggregate(aggregate(i, (i + 1) % SIZE));
    expect(set.list()).toHaveLength(8);
    expect(set.addAggregate(aggregate(0, 5))).toBe("known");
    expect(set.addAggregate(aggregate(0, 5, 9))).toBe("added");
    expect(set.list()).toHaveLength(8);
    expect(set.largestCount).toBe(3);
  });
});
