import { ContainerType, ListBasicType } from "@chainsafe/ssz";
import { ForkName, SLOTS_PER_EPOCH, VALIDATOR_REGISTRY_LIMIT } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateGloas,
  processSlots,
} from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { computeAttestationRewards } from "../../src/chain/rewards/attestation-rewards.ts";
import { computeBlockRewards } from "../../src/chain/rewards/block-rewards.ts";
import { computeSyncCommitteeRewards } from "../../src/chain/rewards/sync-committee-rewards.ts";
import { processBlock } from "../../src/chain/states/advance.ts";
import { variants } from "../support/suite/tier.ts";
import type { VectorCase } from "../support/vectors/vector-case.ts";
import { cachedVectorState } from "../support/vectors/vector-config.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

const Deltas = new ListBasicType(ssz.UintNum64, VALIDATOR_REGISTRY_LIMIT);
const RewardsAndPenalties = new ContainerType({ rewards: Deltas, penalties: Deltas });

function stateOf(vector: VectorCase, name: string): CachedBeaconStateAllForks {
  const view = ssz.gloas.BeaconState.deserializeToViewDU(vector.bytes(name)) as unknown as BeaconStateAllForks;
  return cachedVectorState(ForkName.gloas, view);
}

function deltasOf(vector: VectorCase, name: string): number[] {
  const { rewards, penalties } = vector.ssz(`${name}_deltas`, RewardsAndPenalties);
  return rewards.map((reward, index) => reward - penalties[index]!);
}

const blocksOf = (vector: VectorCase): gloas.SignedBeaconBlock[] =>
  Array.from({ length: vector.yaml<{ blocks_count: number }>("meta").blocks_count }, (_, index) =>
    vector.ssz(`blocks_${index}`, ssz.gloas.SignedBeaconBlock),
  );

const REWARDS = vectorCases("gloas", "rewards");
/** Cases of real blocks, in which validators attest. */
const CHAINS = vectorCases("gloas", "finality");
/** The shortest chain, and one case of each kind of states. */
const FAST = {
  chains: CHAINS.slice(-1),
  rewards: REWARDS.filter(({ path: { handler } }, index) => REWARDS[index - 1]?.path.handler !== handler),
};

it.each(variants({ fast: FAST.rewards, full: REWARDS }).map((vector) => [vector.id, vector] as const))(
  "rewards of attestations are those of %s",
  async (_, vector) => {
    const state = stateOf(vector, "pre");
    const { rewardOf } = await computeAttestationRewards(state, state);
    const names = ["source", "target", "head", "inactivity_penalty"];
    const deltas = new Map(names.map((name) => [name, deltasOf(vector, name)]));
    for (let index = 0; index < state.validators.length; index++) {
      const { source, target, head, inactivity } = rewardOf(index);
      // Adding 0 turns -0 into 0.
      expect(
        [source, target, head, inactivity].map((reward) => reward + 0),
        String(index),
      ).toEqual(names.map((name) => deltas.get(name)![index]));
    }
  },
);

describe.each(variants({ fast: FAST.chains, full: CHAINS }).map((vector) => [vector.id, vector] as const))(
  "the chain %s",
  (_, vector) => {
    it("changes balances by the rewards of its blocks, epochs, and by withdrawals", async () => {
      let state = stateOf(vector, "pre");
      let [paidForBlocks, paidForEpochs] = [0, 0];
      for (const block of blocksOf(vector)) {
        while (state.slot < block.message.slot) {
          // No votes are paid at the end of epoch 0.
          const isLast = (state.slot + 1) % SLOTS_PER_EPOCH === 0 && state.slot >= SLOTS_PER_EPOCH;
          const after = processSlots(state.clone(true), state.slot + 1);
          if (isLast) {
            const { rewardOf } = await computeAttestationRewards(state, after);
            for (let index = 0; index < state.validators.length; index++) {
              const { source, target, head, inactivity } = rewardOf(index);
              const before = state.balances.get(index);
              expect(Math.max(0, before + source + target + head + inactivity)).toBe(after.balances.get(index));
              paidForEpochs += Math.abs(source + target + head + inactivity);
            }
          }
          state = after;
        }
        const explained = state.balances.getAll();
        const ofBlock = await computeBlockRewards(state, block);
        explained[ofBlock.proposerIndex]! += ofBlock.total;
        paidForBlocks += ofBlock.attestations;
        for (const { validatorIndex, reward } of await computeSyncCommitteeRewards(state, block)) {
          explained[validatorIndex]! += reward;
        }
        const post = processBlock(state.clone(true), block);
        for (const { validatorIndex, amount } of withdrawalsOf(state, post))
          explained[validatorIndex]! -= Number(amount);
        expect(post.balances.getAll()).toEqual(explained);
        state = post;
      }
      expect(paidForBlocks).toBeGreaterThan(0);
      expect(paidForEpochs).toBeGreaterThan(0);
    });
  },
);

/** Returns the withdrawals of a block. There are none unless the payload of its parent was revealed. */
function withdrawalsOf(before: CachedBeaconStateAllForks, after: CachedBeaconStateAllForks): gloas.Withdrawals {
  const [pre, post] = [before as CachedBeaconStateGloas, after as CachedBeaconStateGloas];
  return pre.nextWithdrawalIndex === post.nextWithdrawalIndex ? [] : post.payloadExpectedWithdrawals.toValue();
}
