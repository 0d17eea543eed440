import { describe, expect, it } from "vitest";
import { GENESIS_ROOT, rootAt } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { assessHealth, maxCredibleSlot, type Observation } from "./assess-health.ts";

const CLOCK_SLOT = 1000;
const GENESIS_TIME = 1600000000;

function seen(headSlot: number, others: Partial<Observation> = {}): Observation {
  return {
    genesisValidatorsRoot: GENESIS_ROOT,
    genesisTime: GENESIS_TIME,
    head: { slot: headSlot, root: rootAt(headSlot) },
    finalized: { epoch: 29, root: rootAt(29) },
    syncDistance: 0,
    isOptimistic: false,
    isExecutionOffline: false,
    ...others,
  };
}

/** Assesses the first upstream. */
function judged(...all: [Observation, ...Observation[]]) {
  return assessHealth(all[0], measured(all));
}

function measured(all: readonly Observation[]) {
  return {
    genesisValidatorsRoot: GENESIS_ROOT,
    genesisTime: GENESIS_TIME,
    clockSlot: CLOCK_SLOT,
    slotsPerEpoch: 32,
    maxSlotsBehind: 2,
    all,
  };
}

describe("assessHealth", () => {
  it("reports a slightly lagging upstream as ready", () => {
    expect(judged(seen(1000))).toEqual({ state: "ready", reasons: [] });
    expect(judged(seen(998, { syncDistance: 2, finalized: { epoch: 28, root: rootAt(28) } }), seen(1000)).state).toBe(
      "ready",
    );
  });

  it("reports each reason for behind", () => {
    const another = seen(1000);
    for (const [observation, reason] of [
      [seen(900, { syncDistance: 100 }), "It is syncing, 100 slots behind the clock."],
      [seen(1000, { isOptimistic: true }), "It is optimistic: its execution client has not verified its head."],
      [seen(1000, { isExecutionOffline: true }), "Its execution client is offline."],
      [seen(997), "Its head is at slot 997, but that of another upstream is at 1000."],
      [
        seen(1000, { finalized: { epoch: 26, root: rootAt(26) } }),
        "It has finalized epoch 26, but another upstream epoch 29.",
      ],
      [seen(2 ** 50), `Its head is at slot ${2 ** 50}, which is in the future.`],
      [
        seen(1000, { finalized: { epoch: 999, root: rootAt(999) } }),
        "It has finalized epoch 999, which is in the future.",
      ],
      [seen(1000, { shortcoming: "It does not tell its head." }), "It does not tell its head."],
    ] as const) {
      const { state, reasons } = judged(observation, another);
      expect({ state, reasons: reasons.includes(reason) }).toEqual({ state: "behind", reasons: true });
      expect(judged(another, observation).state).toBe("ready");
    }
  });

  it("reports unreachable upstreams as down and those on another chain as foreign", () => {
    const failure = "a refused the connection.";
    expect(judged(seen(1000, { failure }))).toEqual({ state: "down", reasons: [failure] });
    const foreign = judged(seen(1000, { failure, genesisValidatorsRoot: rootAt(5) }));
    expect(foreign.state).toBe("foreign");
    expect(foreign.reasons.join()).toContain(rootAt(5));
    expect(judged(seen(1000, { genesisTime: GENESIS_TIME + 1 }))).toEqual({
      state: "foreign",
      reasons: [
        "It is on another chain: its genesis_time is 1600000001, but that of the gateway's chain is 1600000000.",
      ],
    });
    expect(judged(seen(1000, { failure, isLate: true })).state).toBe("late");
  });

  it("accepts empty chains and chains ahead of the local clock", () => {
    expect(judged(seen(900), seen(900)).state).toBe("ready");
    expect(judged(seen(5000)).state).toBe("ready");
    expect(judged(seen(5000), seen(4999)).state).toBe("ready");
    expect(judged(seen(5000, { polledHead: { slot: 5050, root: rootAt(5050) } })).state).toBe("ready");
  });

  it("does not forget a polled head in the future at a head event", () => {
    const polledHead = { slot: 1050, root: rootAt(1050) };
    expect(judged(seen(1000, { polledHead }), seen(1000))).toEqual({
      state: "behind",
      reasons: ["Its head is at slot 1050, which is in the future."],
    });
    expect(judged(seen(1000), seen(1000, { polledHead })).state).toBe("ready");
  });

  it("ignores the heads of upstreams that are down", () => {
    expect(judged(seen(990), seen(1000, { failure: "b is down." })).state).toBe("ready");
    expect(maxCredibleSlot(measured([seen(5000), seen(5000, { failure: "b is down." })]))).toBe(5000);
  });
});
