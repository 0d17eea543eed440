import { describe, expect, it } from "vitest";
import type { Inspection } from "./inspection.ts";
import { assessPosition, differenceProblems, operationProblems } from "./problems.ts";
import type { Difference } from "./report.ts";

const HEALTHY: Inspection = {
  upstream: "a",
  // In the middle of slot 101.
  observedAt: (1000 + 2 * 101 + 1) * 1000,
  genesisValidatorsRoot: "0xaa",
  chainSpec: {
    presetBase: "minimal",
    genesisValidatorsRoot: "0xaa",
    genesisTime: 1000,
    secondsPerSlot: 2,
    slotsPerEpoch: 8,
    forks: [],
  },
  head: { slot: 100, root: "0x01" },
  finalized: { epoch: 10, root: "0x02" },
  syncDistance: 1,
};

const position = (change: Partial<Inspection> = {}) => {
  const inspection = { ...HEALTHY, ...change };
  return assessPosition(inspection, [inspection, HEALTHY]);
};

describe("the position of an upstream", () => {
  it("is the lag behind clock and best head", () => {
    expect(position()).toEqual({ behindClock: 1, behindBest: 0, problems: [] });
    expect(position({ head: { slot: 93, root: "0x03" } })).toEqual({ behindClock: 8, behindBest: 7, problems: [] });
  });

  it("uses the time of the observation", () => {
    expect(position({ observedAt: (1000 + 2 * 104 + 1) * 1000 })).toMatchObject({ behindClock: 4, behindBest: 0 });
  });

  it("has no clock lag without a chain spec", () => {
    expect(position({ chainSpec: undefined })).toEqual({
      behindBest: 0,
      problems: ["It does not report all required chain parameters."],
    });
  });

  it("ignores upstreams of another chain", () => {
    expect(position({ head: { slot: 98, root: "0x03" }, genesisValidatorsRoot: "0xbb" })).toMatchObject({
      behindBest: 0,
      problems: [],
    });
  });

  const cases: [change: Partial<Inspection>, problems: RegExp[]][] = [
    [
      { head: { slot: 80, root: "0x03" } },
      [/at slot 80, but that of another upstream is at 100/, /21 slots behind the clock/],
    ],
    [{ finalized: { epoch: 7, root: "0x04" } }, [/finalized epoch 7, but another upstream epoch 10/]],
    [{ syncDistance: 9 }, [/syncing, 9 slots/]],
    [{ isOptimistic: true }, [/optimistic/]],
    [{ isExecutionOffline: true }, [/execution client is offline/]],
    [{ failure: "It is gone." }, [/^It is gone\.$/]],
    [{ head: undefined, shortcoming: "It does not tell its head." }, [/does not tell its head/]],
  ];
  for (const [change, problems] of cases) {
    it(`has the problem of ${JSON.stringify(change)}`, () => {
      expect(position(change).problems).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    });
  }

  it("includes problems of operations", () => {
    expect(
      operationProblems([{ outcome: "ok", ssz: "absent" }, { outcome: "absent" }, { outcome: "declined" }]),
    ).toEqual([]);
    expect(
      operationProblems([
        { outcome: "ok", ssz: "error" },
        { outcome: "error" },
        { outcome: "refused" },
        { outcome: "wrong-form" },
        { outcome: "not-ready" },
      ]),
    ).toEqual([
      "One operation could not be served because it is not ready.",
      "2 operations failed.",
      "One operation got a refusal.",
      "One operation returned a result that does not match the standard.",
    ]);
  });

  it("includes answers that differ from the majority", () => {
    const differing = (request: string, most: string[], others: string[]): Difference => ({
      request,
      path: "data",
      said: [
        { upstreams: most, value: "1" },
        { upstreams: others, value: "2" },
      ],
    });
    const outvoted = [differing("GET /x", ["a", "b"], ["c"]), differing("GET /x", ["a", "b"], ["c"])];
    expect(differenceProblems("a", outvoted)).toEqual([]);
    expect(differenceProblems("c", outvoted)).toEqual(["It answers one request differently from other upstreams."]);
    const even = [differing("GET /x", ["a"], ["b"]), differing("GET /y", ["a"], ["b"])];
    for (const upstream of ["a", "b"]) {
      expect(differenceProblems(upstream, even)).toEqual(["It answers 2 requests differently from other upstreams."]);
    }
    expect(differenceProblems("c", even)).toEqual([]);
  });
});
