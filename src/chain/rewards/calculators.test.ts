import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { ForkSeq } from "@lodestar/params";
import { expect, it } from "vitest";
import { altairRewardCalculator } from "./altair-rewards.ts";
import type { Attester, EpochEnd, RewardCalculator, VoteRewards } from "./attester-rewards.ts";
import { phase0BaseReward, phase0ProposerReward, phase0RewardCalculator } from "./phase0-rewards.ts";

const ETHER = 1e9;
const config = createBeaconConfig(
  { ...chainConfig, INACTIVITY_SCORE_BIAS: 4, ALTAIR_FORK_EPOCH: 0 },
  new Uint8Array(32),
);

/** 100 ETH are active, of which 50 voted for the source, 25 for the target and 10 for the head. */
const totals = {
  totalActiveStakeByIncrement: 100,
  baseRewardPerIncrement: 1000,
  prevEpochUnslashedStake: { sourceStakeByIncrement: 50, targetStakeByIncrement: 25, headStakeByIncrement: 10 },
};
const NO_LEAK: EpochEnd = { totals, finalityDelay: 1, isInLeak: false };
const LEAK: EpochEnd = { totals, finalityDelay: 5, isInLeak: true };

const VOTED: Attester = {
  effectiveBalance: 32 * ETHER,
  votedSource: true,
  votedTarget: true,
  votedHead: true,
  inclusionDelay: 1,
  inactivityScore: 40,
};
const ABSENT: Attester = { ...VOTED, votedSource: false, votedTarget: false, votedHead: false };

/** Converts -0 to 0. */
const plain = (rewards: VoteRewards) =>
  Object.fromEntries(Object.entries(rewards).map(([kind, gwei]) => [kind, gwei + 0]));

// The base reward is 32 × 1000 Gwei. The weights are 14, 26 and 14 of 64.
const altair = (end: EpochEnd, fork: ForkSeq = ForkSeq.altair): RewardCalculator =>
  altairRewardCalculator(config, fork, end);

it("altair: rewards each vote by its weight and the share that voted alike", () => {
  expect(plain(altair(NO_LEAK)(VOTED))).toEqual({ head: 700, target: 3250, source: 3500, inactivity: 0 });
});

it("altair: a missing head vote costs nothing, missing source and target votes their full weight", () => {
  expect(plain(altair(NO_LEAK)({ ...ABSENT, inactivityScore: 0 }))).toEqual({
    head: 0,
    target: -13000,
    source: -7000,
    inactivity: 0,
  });
});

it("altair: a leak pays no rewards, and penalties stay", () => {
  expect(plain(altair(LEAK)(VOTED))).toEqual({ head: 0, target: 0, source: 0, inactivity: 0 });
  expect(plain(altair(LEAK)({ ...ABSENT, inactivityScore: 0 }))).toMatchObject({ target: -13000, source: -7000 });
});

it.each([
  ["altair", ForkSeq.altair, 3 * 2 ** 24],
  ["bellatrix", ForkSeq.bellatrix, 2 ** 24],
  ["electra", ForkSeq.electra, 2 ** 24],
])("%s: the inactivity penalty grows with the score of validators without a target vote", (_, fork, quotient) => {
  const rewardsOf = altair(NO_LEAK, fork);
  const penalty = (change: Partial<Attester>) => plain(rewardsOf({ ...ABSENT, ...change })).inactivity;
  expect(penalty({})).toBe(-Math.floor((32 * ETHER * 40) / (4 * quotient)));
  expect(penalty({ inactivityScore: 80 })).toBe(-Math.floor((32 * ETHER * 80) / (4 * quotient)));
  expect(penalty({ votedTarget: true })).toBe(0);
});

it("altair: rounds down rewards and penalties", () => {
  const odd = { ...totals, totalActiveStakeByIncrement: 99, baseRewardPerIncrement: 7 };
  const rewardsOf = altair({ ...NO_LEAK, totals: odd });
  const one = { effectiveBalance: ETHER, inactivityScore: 0 };
  // 7 × 26 × 25 / (99 × 64) = 0.7 and 7 × 26 / 64 = 2.8.
  expect(plain(rewardsOf({ ...VOTED, ...one })).target).toBe(0);
  expect(plain(rewardsOf({ ...ABSENT, ...one })).target).toBe(-2);
});

// √(100 ETH) is 316227.7 Gwei, rounded down. The base reward is 32 ETH × 64 / 316227 / 4.
const BASE = 1_619_090;

it("phase0: the base reward is rounded down twice", () => {
  expect(phase0BaseReward(totals)(32 * ETHER)).toBe(BASE);
  expect(phase0BaseReward(totals)(0)).toBe(0);
  expect(phase0ProposerReward(BASE)).toBe(202_386);
});

it("phase0: rewards each vote by the share that voted alike, and early inclusion", () => {
  const rewardsOf = phase0RewardCalculator(NO_LEAK);
  expect(plain(rewardsOf(VOTED))).toEqual({
    head: 161_909,
    target: 404_772,
    source: 809_545,
    inclusionDelay: 1_416_704,
    inactivity: 0,
  });
  expect(plain(rewardsOf({ ...VOTED, inclusionDelay: 3 })).inclusionDelay).toBe(472_234);
});

it("phase0: each missing vote costs the base reward", () => {
  expect(plain(phase0RewardCalculator(NO_LEAK)(ABSENT))).toEqual({
    head: -BASE,
    target: -BASE,
    source: -BASE,
    inclusionDelay: 0,
    inactivity: 0,
  });
});

it("phase0: in a leak a perfect vote included at once earns nothing in total", () => {
  const rewards = plain(phase0RewardCalculator(LEAK)(VOTED));
  expect(rewards).toMatchObject({ head: BASE, target: BASE, source: BASE });
  expect(Object.values(rewards).reduce((sum, gwei) => sum + gwei, 0)).toBe(0);
});

it("phase0: in a leak a missing target vote also costs balance × delay / quotient", () => {
  const rewardsOf = phase0RewardCalculator(LEAK);
  const [voted, absent] = [VOTED, ABSENT].map((attester) => plain(rewardsOf(attester)).inactivity!);
  expect(absent! - voted!).toBe(-Math.floor((32 * ETHER * 5) / 2 ** 25));
});

it.each<[string, RewardCalculator]>([
  ["altair", altair(LEAK)],
  ["phase0", phase0RewardCalculator(LEAK)],
])("%s: without a balance there is nothing to win or lose", (_, rewardsOf) => {
  const rewards = Object.values(plain(rewardsOf({ ...ABSENT, effectiveBalance: 0 })));
  expect(new Set(rewards)).toEqual(new Set([0]));
});
