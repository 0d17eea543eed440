import { describe, expect, it } from "vitest";
import type { Examination } from "./examination.ts";
import { differingAnswers, failingOperations, standingOf } from "./problems.ts";
import type { Difference } from "./report.ts";

const HEALTHY: Examination = {
  upstream: "a",
  // In the middle of slot 101.
  observedAt: (1000 + 2 * 101 + 1) * 1000,
  genesisValidatorsRoot: "0xaa",
  facts: {
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

const standing = (change: Partial<Examination> = {}) => {
  const examination = { ...HEALTHY, ...change };
  return standingOf(examination, [examination, HEALTHY]);
};

describe("where an upstream stands", () => {
  it("is told in slots to the clock and to the best", () => {
    expect(standing()).toEqual({ behindClock: 1, behindBest: 0, problems: [] });
    expect(standing({ head: { slot: 93, root: "0x03" } })).toEqual({ behindClock: 8, behindBest: 7, problems: [] });
  });

  it("is measured by the clock of when it was told, not by that of another", () => {
    expect(standing({ observedAt: (1000 + 2 * 104 + 1) * 1000 })).toMatchObject({ behindClock: 4, behindBest: 0 });
  });

  it("is told without a clock where its chain is not told", () => {
    expect(standing({ facts: undefined })).toEqual({
      behindBest: 0,
      problems: ["It does not tell what is needed of its chain."],
    });
  });

  it("is not measured by upstreams of another chain", () => {
    expect(standing({ head: { slot: 98, root: "0x03" }, genesisValidatorsRoot: "0xbb" })).toMatchObject({
      behindBest: 0,
      problems: [],
    });
  });

  const cases: [change: Partial<Examination>, problems: RegExp[]][] = [
    [
      { head: { slot: 80, root: "0x03" } },
      [/at slot 80, that of another upstream at 100/, /21 slots behind the clock/],
    ],
    [{ finalized: { epoch: 7, root: "0x04" } }, [/finalized epoch 7, another upstream 10/]],
    [{ syncDistance: 9 }, [/syncing, 9 slots/]],
    [{ isOptimistic: true }, [/optimistic/]],
    [{ isExecutionOffline: true }, [/execution client is offline/]],
    [{ failure: "It is gone." }, [/^It is gone\.$/]],
    [{ head: undefined, shortcoming: "It does not tell its head." }, [/does not tell its head/]],
  ];
  for (const [change, problems] of cases) {
    it(`is told with what is wrong: ${JSON.stringify(change)}`, () => {
      expect(standing(change).problems).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    });
  }

  it("is also told by its operations", () => {
    expect(
      failingOperations([{ outcome: "ok", ssz: "absent" }, { outcome: "absent" }, { outcome: "declined" }]),
    ).toEqual([]);
    expect(
      failingOperations([
        { outcome: "ok", ssz: "error" },
        { outcome: "error" },
        { outcome: "refused" },
        { outcome: "wrong-form" },
        { outcome: "not-ready" },
      ]),
    ).toEqual([
      "One operation had to wait, because it is not ready.",
      "2 operations failed.",
      "One operation met with a refusal.",
      "One operation gave what the standard does not have there.",
    ]);
  });

  it("is also told by what it answers otherwise than most, or than one other", () => {
    const differing = (request: string, most: string[], others: string[]): Difference => ({
      request,
      path: "data",
      said: [
        { upstreams: most, value: "1" },
        { upstreams: others, value: "2" },
      ],
    });
    const outvoted = [differing("GET /x", ["a", "b"], ["c"]), differing("GET /x", ["a", "b"], ["c"])];
    expect(differingAnswers("a", outvoted)).toEqual([]);
    expect(differingAnswers("c", outvoted)).toEqual(["It answers one request otherwise than others do."]);
    const even = [differing("GET /x", ["a"], ["b"]), differing("GET /y", ["a"], ["b"])];
    for (const upstream of ["a", "b"]) {
      expect(differingAnswers(upstream, even)).toEqual(["It answers 2 requests otherwise than others do."]);
    }
    expect(differingAnswers("c", even)).toEqual([]);
  });
});
