import { describe, expect, it } from "vitest";
import { attestationSubnet, CommitteeSubscriptions } from "./committee-subscriptions.ts";

describe("CommitteeSubscriptions", () => {
  const interest = (slot: number, committeeIndex: number, isAggregator = false) => ({
    slot,
    committeeIndex,
    committeesAtSlot: 2,
    isAggregator,
  });

  it("lists by slot and committee, with subnets", () => {
    const subscriptions = new CommitteeSubscriptions();
    for (const each of [interest(11, 1), interest(10, 1, true), interest(11, 0)]) subscriptions.add(each);
    // The minimal preset has 8 slots per epoch: slot 10 is the third of its epoch.
    expect(subscriptions.list()).toEqual([
      { slot: 10, committeeIndex: 1, subnet: 5, isAggregator: true },
      { slot: 11, committeeIndex: 0, subnet: 6, isAggregator: false },
      { slot: 11, committeeIndex: 1, subnet: 7, isAggregator: false },
    ]);
  });

  it("stores a committee once and remembers an aggregator", () => {
    const subscriptions = new CommitteeSubscriptions();
    for (const isAggregator of [false, true, false]) subscriptions.add(interest(3, 0, isAggregator));
    expect(subscriptions.list()).toEqual([{ slot: 3, committeeIndex: 0, subnet: 6, isAggregator: true }]);
  });

  it("expires after its slot", () => {
    const subscriptions = new CommitteeSubscriptions();
    for (const slot of [3, 4, 5]) subscriptions.add(interest(slot, 0));
    subscriptions.prune(4);
    expect(subscriptions.list().map(({ slot }) => slot)).toEqual([3, 4, 5]);
    subscriptions.prune(5);
    expect(subscriptions.list().map(({ slot }) => slot)).toEqual([4, 5]);
    subscriptions.prune(9);
    expect(subscriptions.list()).toEqual([]);
  });
});

describe("attestationSubnet", () => {
  it.each([
    [1, 0, 0, 0],
    [1, 8, 0, 0],
    [4, 3, 2, 14],
    [64, 1, 3, 3],
    [9, 7, 8, 7],
  ])("with %i committees, slot %i and committee %i is %i", (committees, slot, committee, subnet) => {
    expect(attestationSubnet(committees, slot, committee)).toBe(subnet);
  });
});
