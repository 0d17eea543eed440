import { MIN_EPOCHS_TO_INACTIVITY_PENALTY, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateAllForks, processSlots } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { DevFork } from "../../dev/forks.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { type AttestationRewards, computeAttestationRewards } from "./attestation-rewards.ts";

const ETHER = 1e9;
const VALIDATORS = 8;

/** Rewards for an epoch on a chain without blocks, and the states before and after they are paid. */
async function rewardsOf(fork: DevFork, epoch: number) {
  const chainConfig = devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 2, genesisTime: 0 });
  const { state } = createDevGenesis({ chainConfig, validatorCount: VALIDATORS, genesisTime: 0 });
  const lastSlot = (epoch + 2) * SLOTS_PER_EPOCH - 1;
  const before: CachedBeaconStateAllForks = processSlots(state, lastSlot);
  const after = processSlots(before.clone(true), lastSlot + 1);
  return { rewards: await computeAttestationRewards(before, after), before, after };
}

// altair/beacon-chain.md, get_base_reward_per_increment: 10^9 × 64 / √(8 × 32 ETH), rounded down.
const BASE_PER_INCREMENT = 126_491;

it.each<[DevFork, number]>([
  ["phase0", 32],
  ["deneb", 32],
  ["electra", 2048],
  ["fulu", 2048],
])("%s: has an ideal reward for each increment up to the maximum of %d ETH", async (fork, maximum) => {
  const { idealRewards } = (await rewardsOf(fork, 0)).rewards;
  expect(idealRewards.map(({ effectiveBalance }) => effectiveBalance)).toEqual(
    Array.from({ length: maximum + 1 }, (_, increments) => increments * ETHER),
  );
});

it("pays perfect votes by their weights if all others were absent", async () => {
  const { idealRewards } = (await rewardsOf("electra", 0)).rewards;
  // The participating stake counts as at least one of the 256 increments.
  const reward = (weight: number) => Math.floor((32 * BASE_PER_INCREMENT * weight) / (VALIDATORS * 32 * 64));
  expect(idealRewards[32]).toEqual({
    effectiveBalance: 32 * ETHER,
    head: reward(14),
    target: reward(26),
    source: reward(14),
    inactivity: 0,
  });
});

it.each<[DevFork, (rewards: AttestationRewards) => boolean]>([
  ["phase0", ({ rewardOf }) => rewardOf(0).inactivity < 0],
  ["altair", ({ idealRewards }) => idealRewards[32]!.source === 0],
])(
  "%s: a leak begins with more than MIN_EPOCHS_TO_INACTIVITY_PENALTY epochs without finality",
  async (fork, isLeak) => {
    const limit = MIN_EPOCHS_TO_INACTIVITY_PENALTY;
    // Epoch 0 is finalized, so the finality delay equals the epoch.
    for (const epoch of [limit, limit + 1]) {
      const { rewards, before, after } = await rewardsOf(fork, epoch);
      const { head, target, source, inactivity, inclusionDelay = 0 } = rewards.rewardOf(0);
      expect(before.balances.get(0) + head + target + source + inactivity + inclusionDelay).toBe(after.balances.get(0));
      expect(isLeak(rewards)).toBe(epoch > limit);
    }
  },
);
