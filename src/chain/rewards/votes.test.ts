import {
  SLOTS_PER_EPOCH,
  TIMELY_HEAD_FLAG_INDEX,
  TIMELY_SOURCE_FLAG_INDEX,
  TIMELY_TARGET_FLAG_INDEX,
} from "@lodestar/params";
import {
  type CachedBeaconStateAltair,
  FLAG_ELIGIBLE_ATTESTER,
  FLAG_PREV_HEAD_ATTESTER_UNSLASHED,
  FLAG_PREV_SOURCE_ATTESTER_UNSLASHED,
  FLAG_PREV_TARGET_ATTESTER_UNSLASHED,
  hasMarkers,
  processSlots,
} from "@lodestar/state-transition";
import type { phase0 } from "@lodestar/types";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { countAltairVotes } from "./votes.ts";

/** Votes from this epoch are rewarded at the end of the next epoch, which is the state's epoch. */
const VOTED_EPOCH = 3;
const ALL_FLAGS = (1 << TIMELY_SOURCE_FLAG_INDEX) | (1 << TIMELY_TARGET_FLAG_INDEX) | (1 << TIMELY_HEAD_FLAG_INDEX);

type Change = Partial<Pick<phase0.Validator, "slashed" | "activationEpoch" | "exitEpoch" | "withdrawableEpoch">>;

/** A state from the epoch after the attested one, with one validator per change. All validators voted. */
function stateWith(changes: readonly Change[], participation = changes.map(() => ALL_FLAGS)): CachedBeaconStateAltair {
  const chainConfig = devChainConfig({ forks: [{ fork: "altair", epoch: 0 }], slotSeconds: 2, genesisTime: 0 });
  const { state } = createDevGenesis({ chainConfig, validatorCount: changes.length, genesisTime: 0 });
  const later = processSlots(state, (VOTED_EPOCH + 1) * SLOTS_PER_EPOCH) as CachedBeaconStateAltair;
  for (const [index, change] of changes.entries()) {
    Object.assign(later.validators.get(index), change);
    later.previousEpochParticipation.set(index, participation[index]!);
  }
  later.commit();
  return later;
}

const exited = { exitEpoch: VOTED_EPOCH };

it.each<[string, Change, { isEligible: boolean; counts: boolean }]>([
  ["an active validator", {}, { isEligible: true, counts: true }],
  ["one active from the voted epoch on", { activationEpoch: VOTED_EPOCH }, { isEligible: true, counts: true }],
  ["one active only after it", { activationEpoch: VOTED_EPOCH + 1 }, { isEligible: false, counts: false }],
  ["one that exits right after it", { exitEpoch: VOTED_EPOCH + 1 }, { isEligible: true, counts: true }],
  ["one that exited with it", { ...exited, withdrawableEpoch: 9 }, { isEligible: false, counts: false }],
  ["a slashed active one", { slashed: true }, { isEligible: true, counts: false }],
  [
    "a slashed exited one, withdrawable two epochs later",
    { ...exited, slashed: true, withdrawableEpoch: VOTED_EPOCH + 2 },
    { isEligible: true, counts: false },
  ],
  [
    "a slashed exited one, withdrawable one epoch later",
    { ...exited, slashed: true, withdrawableEpoch: VOTED_EPOCH + 1 },
    { isEligible: false, counts: false },
  ],
])("get_eligible_validator_indices and get_unslashed_participating_indices: %s", async (_, change, expected) => {
  const { flags, totals } = await countAltairVotes(stateWith([{}, change]));
  const flag = flags[1]!;
  expect(hasMarkers(flag, FLAG_ELIGIBLE_ATTESTER)).toBe(expected.isEligible);
  for (const marker of [
    FLAG_PREV_SOURCE_ATTESTER_UNSLASHED,
    FLAG_PREV_TARGET_ATTESTER_UNSLASHED,
    FLAG_PREV_HEAD_ATTESTER_UNSLASHED,
  ]) {
    expect(hasMarkers(flag, marker)).toBe(expected.counts);
  }
  const increments = 32 * (expected.counts ? 2 : 1);
  expect(totals.prevEpochUnslashedStake).toEqual({
    sourceStakeByIncrement: increments,
    targetStakeByIncrement: increments,
    headStakeByIncrement: increments,
  });
});

it("counts each kind of vote separately, in increments of effective balance", async () => {
  const [source, target, head] = [TIMELY_SOURCE_FLAG_INDEX, TIMELY_TARGET_FLAG_INDEX, TIMELY_HEAD_FLAG_INDEX].map(
    (index) => 1 << index,
  ) as [number, number, number];
  const state = stateWith([{}, {}, {}, {}], [source, source | target, source | target | head, 0]);
  const { totals } = await countAltairVotes(state);
  expect(totals.prevEpochUnslashedStake).toEqual({
    sourceStakeByIncrement: 96,
    targetStakeByIncrement: 64,
    headStakeByIncrement: 32,
  });
  expect(totals.totalActiveStakeByIncrement).toBe(128);
});

it("counts at least one increment", async () => {
  const { totals } = await countAltairVotes(stateWith([{}], [0]));
  expect(totals.prevEpochUnslashedStake).toEqual({
    sourceStakeByIncrement: 1,
    targetStakeByIncrement: 1,
    headStakeByIncrement: 1,
  });
});
