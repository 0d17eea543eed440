import { EFFECTIVE_BALANCE_INCREMENT, MAX_EFFECTIVE_BALANCE, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateAllForks, createCachedBeaconState } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { expect, it } from "vitest";
import { devChainConfig } from "../../../src/dev/chain-config.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { createDevGenesis } from "../../../src/dev/genesis.ts";
import { Caller } from "../../support/api/caller.ts";
import { seededRandom } from "../../support/random/seeded-random.ts";
import { expectedBlockRewards } from "./expected-block-rewards.ts";
import { type ChangeKind, changesOfBlock, changesOfEpoch } from "./other-balance-changes.ts";
import { credentials, RandomHistory } from "./random-history.ts";
import { type Step, UnsignedChain } from "./unsigned-chain.ts";

// Rewards from the API and other balance changes, which the test computes, must add up to the balance change of every
// validator in every slot of a random history on every fork. The parts of block rewards are also computed by the
// specification.

const EPOCHS = Number(process.env.REWARDS_ORACLE_EPOCHS ?? 50);
const SEED = Number(process.env.REWARDS_ORACLE_SEED ?? 1);
const VALIDATORS = 64;

const OF_BLOCK = "get_v1_beacon_rewards_blocks_blockId";
const OF_SYNC_COMMITTEE = "post_v1_beacon_rewards_sync_committee_blockId";
const OF_VOTES = "post_v1_beacon_rewards_attestations_epoch";

type Happening =
  | ChangeKind
  | "leak"
  | "sync committee penalty"
  | "member without a balance"
  | "reward for a proposer slashing"
  | "reward for an attester slashing";

export const ON_EVERY_FORK: Happening[] = [
  "leak",
  "slashing",
  "reward for a proposer slashing",
  "reward for an attester slashing",
  "later slashing penalty",
  "deposit",
  "new validator",
];
export const FROM_ALTAIR: Happening[] = [...ON_EVERY_FORK, "sync committee penalty"];
export const FROM_CAPELLA: Happening[] = [...FROM_ALTAIR, "withdrawal", "member without a balance"];
export const FROM_ELECTRA: Happening[] = [...FROM_CAPELLA, "queued balance", "consolidation"];

export interface RewardsCase {
  name: string;
  forks: ScheduledFork[];
  happenings: Happening[];
}

export const onlyFork = (fork: ScheduledFork["fork"]): ScheduledFork[] => [{ fork, epoch: 0 }];

/** Declares a test for each case. */
export function testRewards(cases: readonly RewardsCase[]): void {
  it.each(cases)(
    "rewards explain every balance: $name",
    async ({ forks, happenings }) => {
      const genesis = variedGenesis(forks);
      const chain = new UnsignedChain(genesis);
      const history = new RandomHistory(genesis.config, seededRandom(SEED), VALIDATORS);
      const oracle = new Oracle(chain);
      for (let slot = 1; slot <= EPOCHS * SLOTS_PER_EPOCH; slot++) {
        await oracle.check(chain.step((state) => history.body(state)));
      }
      // The history must contain all kinds of changes.
      if (EPOCHS >= 50) for (const happening of happenings) expect(oracle.seen).toContain(happening);
    },
    60_000 + 1_000 * EPOCHS,
  );
}

class Oracle {
  readonly seen = new Set<Happening>();
  readonly #caller: Caller;

  constructor(chain: UnsignedChain) {
    this.#caller = new Caller(chain.api);
  }

  async check(step: Step): Promise<void> {
    if (step.atSlot.slot % SLOTS_PER_EPOCH === 0) await this.#checkEpochTransition(step);
    if (step.block) await this.#checkBlock(step);
  }

  async #checkEpochTransition({ before, atSlot }: Step): Promise<void> {
    const expected = before.balances.getAll();
    const endedEpoch = atSlot.slot / SLOTS_PER_EPOCH - 1;
    // There are no attestation rewards before the first epoch.
    if (endedEpoch > 0) {
      const { ideal_rewards, total_rewards } = await this.#caller.call(OF_VOTES, [endedEpoch - 1]);
      expect(total_rewards).toHaveLength(expected.length);
      for (const { validator_index, head, target, source, inclusion_delay = "0", inactivity } of total_rewards) {
        for (const amount of [head, target, source, inclusion_delay, inactivity]) {
          expected[Number(validator_index)]! += Number(amount);
        }
        if (Number(inactivity) < 0) this.seen.add("leak");
        // A reward for a flag must equal the ideal reward.
        const { effectiveBalance } = before.validators.getReadonly(Number(validator_index));
        const ideal = ideal_rewards[effectiveBalance / EFFECTIVE_BALANCE_INCREMENT];
        if (Number(head) > 0) expect(head).toBe(ideal.head);
        if (Number(target) > 0) expect(target).toBe(ideal.target);
        if (Number(source) > 0) expect(source).toBe(ideal.source);
      }
    }
    changesOfEpoch(before, atSlot, this.#changing(expected), (index) => expected[index]!);
    expectBalances(atSlot, expected);
  }

  async #checkBlock({ atSlot, after, block }: Step): Promise<void> {
    const expected = atSlot.balances.getAll();
    changesOfBlock(atSlot, block!, after, this.#changing(expected));
    const { proposer_index, total, ...parts } = await this.#caller.call(OF_BLOCK, [atSlot.slot]);
    const expectedParts = expectedBlockRewards(atSlot, block!, after);
    expect(parts).toEqual(
      Object.fromEntries(Object.entries(expectedParts).map(([part, gwei]) => [part, String(gwei)])),
    );
    if (expectedParts.proposer_slashings > 0) this.seen.add("reward for a proposer slashing");
    if (expectedParts.attester_slashings > 0) this.seen.add("reward for an attester slashing");
    expected[Number(proposer_index)]! += Number(total);
    for (const { validator_index, reward } of await this.#caller.call(OF_SYNC_COMMITTEE, [atSlot.slot])) {
      expected[Number(validator_index)]! += Number(reward);
      if (Number(reward) < 0) this.seen.add("sync committee penalty");
      if (after.balances.get(Number(validator_index)) === 0) this.seen.add("member without a balance");
    }
    expectBalances(after, expected);
  }

  #changing(expected: number[]): (kind: ChangeKind, index: ValidatorIndex, amount: number) => void {
    return (kind, index, amount) => {
      this.seen.add(kind);
      expected[index] = (expected[index] ?? 0) + amount;
    };
  }
}

function expectBalances({ slot, balances }: CachedBeaconStateAllForks, expected: number[]): void {
  const wrong = balances
    .getAll()
    .map((balance, index) => ({ slot, index, balance, unexplained: balance - expected[index]! }))
    .filter(({ unexplained }) => unexplained !== 0);
  expect(wrong).toEqual([]);
}

/** Genesis with diverse validators and short delays for exits and withdrawals. */
function variedGenesis(forks: ScheduledFork[]) {
  const chainConfig = {
    ...devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 }),
    SHARD_COMMITTEE_PERIOD: 2,
    MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 1,
    // Below the total churn, which leaves churn for consolidations.
    MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: MAX_EFFECTIVE_BALANCE * 4,
    MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT: MAX_EFFECTIVE_BALANCE * 2,
  };
  const { state, config, pubkeyCache } = createDevGenesis({ chainConfig, validatorCount: VALIDATORS, genesisTime: 0 });
  for (const index of Array.from({ length: VALIDATORS }, (_, position) => position)) {
    const validator = state.validators.get(index);
    if (index % 4 !== 0) validator.withdrawalCredentials = credentials(index % 4 === 1 ? 0x02 : 0x01);
    if (index % 5 === 0) validator.effectiveBalance = (20 + (index % 12)) * 1e9;
    state.balances.set(index, validator.effectiveBalance + index * 12_345_678);
  }
  state.commit();
  // Recomputes the caches of the validators.
  const varied = createCachedBeaconState(state.type.getViewDU(state.node) as CachedBeaconStateAllForks, {
    config,
    pubkeyCache,
  });
  return { config, state: varied };
}
