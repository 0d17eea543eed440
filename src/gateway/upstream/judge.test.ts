import { describe, expect, it } from "vitest";
import { judge, latestCredibleSlot, type Observation } from "./judge.ts";
import { GENESIS_ROOT, rootAt } from "./scripted-upstream.test-support.ts";

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

/** The judgement on the first one. */
function judged(...all: [Observation, ...Observation[]]) {
  return judge(all[0], measured(all));
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

describe("the judgement on an upstream", () => {
  it("is ready when nothing is wrong with it, though it is a little behind", () => {
    expect(judged(seen(1000))).toEqual({ fitness: "ready", reasons: [] });
    expect(judged(seen(998, { syncDistance: 2, finalized: { epoch: 28, root: rootAt(28) } }), seen(1000)).fitness).toBe(
      "ready",
    );
  });

  it("is behind for each reason, which it names", () => {
    const another = seen(1000);
    for (const [observation, reason] of [
      [seen(900, { syncDistance: 100 }), "It is syncing, 100 slots behind the clock."],
      [seen(1000, { isOptimistic: true }), "Its execution client has not verified its head yet: it is optimistic."],
      [seen(1000, { isExecutionOffline: true }), "Its execution client is offline."],
      [seen(997), "Its head is at slot 997, that of another upstream at 1000."],
      [seen(1000, { finalized: { epoch: 27, root: rootAt(27) } }), "It has finalized epoch 27, another upstream 29."],
      [seen(2 ** 50), `It tells of a head at slot ${2 ** 50}, which is still to come.`],
      [
        seen(1000, { finalized: { epoch: 999, root: rootAt(999) } }),
        "It tells that epoch 999 is final, which is still to come.",
      ],
      [seen(1000, { shortcoming: "It does not tell its head." }), "It does not tell its head."],
    ] as const) {
      const { fitness, reasons } = judged(observation, another);
      expect({ fitness, reasons: reasons.includes(reason) }).toEqual({ fitness: "behind", reasons: true });
      expect(judged(another, observation).fitness).toBe("ready");
    }
  });

  it("is down when it cannot be asked, and foreign when it follows another chain, whatever else", () => {
    const failure = "a refused the connection.";
    expect(judged(seen(1000, { failure }))).toEqual({ fitness: "down", reasons: [failure] });
    const foreign = judged(seen(1000, { failure, genesisValidatorsRoot: rootAt(5) }));
    expect(foreign.fitness).toBe("foreign");
    expect(foreign.reasons.join()).toContain(rootAt(5));
    expect(judged(seen(1000, { genesisTime: GENESIS_TIME + 1 }))).toEqual({
      fitness: "foreign",
      reasons: ["It follows another chain: its genesis_time is 1600000001, that of the others is 1600000000."],
    });
    expect(judged(seen(1000, { failure, isLate: true })).fitness).toBe("late");
  });

  it("does not hold a chain without blocks, or one with a time of its own, against anybody", () => {
    expect(judged(seen(900), seen(900)).fitness).toBe("ready");
    expect(judged(seen(5000)).fitness).toBe("ready");
    expect(judged(seen(5000), seen(4999)).fitness).toBe("ready");
  });

  it("goes by no upstream that is down", () => {
    expect(judged(seen(990), seen(1000, { failure: "b is down." })).fitness).toBe("ready");
    expect(latestCredibleSlot(measured([seen(5000), seen(5000, { failure: "b is down." })]))).toBe(5000);
  });
});
