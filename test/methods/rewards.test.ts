import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OpenApi } from "../conformance/openapi.ts";
import { Caller } from "../support/caller.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/dev-chain.ts";

const OF_BLOCK = "get_v1_beacon_rewards_blocks_blockId";
const OF_SYNC_COMMITTEE = "post_v1_beacon_rewards_sync_committee_blockId";
const OF_VOTES = "post_v1_beacon_rewards_attestations_epoch";
const VALIDATORS = 16;
const HEAD = 5 * SLOTS_PER_EPOCH - 1;
/** Not the first of its epoch, so that a block alone changes balances. */
const SLOT = 3 * SLOTS_PER_EPOCH + 4;
const INVALID = -32602;
const NOT_FOUND = -32001;

const standard = new OpenApi("v4.0.0");

function expectStandard(verb: "GET" | "POST", path: string, result: unknown): void {
  const { data } = standard.validator({ verb, path: `/eth/v1/beacon/rewards/${path}` })!;
  data(result);
  expect(data.errors ?? []).toEqual([]);
}

describe.each(["altair", "fulu"] as const)("rewards on a chain that becomes %s", (fork) => {
  let opened: OpenedDevChain;
  let caller: Caller;
  beforeAll(async () => {
    opened = await startQuietDevChain(HEAD, { validators: VALIDATORS, forks: [{ fork, epoch: 2 }] });
    caller = new Caller(opened.devChain.api);
  });
  afterAll(() => opened?.close());

  const balancesAt = async (slot: number): Promise<number[]> => {
    const balances: { balance: string }[] = await caller.call("get_v1_beacon_states_stateId_validator_balances", [
      slot,
    ]);
    return balances.map(({ balance }) => Number(balance));
  };

  it("of a block and its sync committee are what the balances gained", async () => {
    const before = await balancesAt(SLOT - 1);
    const after = await balancesAt(SLOT);
    const ofBlock = await caller.call(OF_BLOCK, [SLOT]);
    expectStandard("GET", "blocks/{block_id}", ofBlock);
    const ofCommittee: { validator_index: string; reward: string }[] = await caller.call(OF_SYNC_COMMITTEE, [SLOT]);
    expectStandard("POST", "sync_committee/{block_id}", ofCommittee);

    const gained = after.map((balance, index) => balance - before[index]!);
    const explained = gained.map(() => 0);
    explained[Number(ofBlock.proposer_index)]! += Number(ofBlock.total);
    for (const { validator_index, reward } of ofCommittee) explained[Number(validator_index)]! += Number(reward);
    expect(explained).toEqual(gained);

    expect(Number(ofBlock.attestations)).toBeGreaterThan(0);
    expect(Number(ofBlock.sync_aggregate)).toBeGreaterThan(0);
    expect(Number(ofBlock.total)).toBe(Number(ofBlock.attestations) + Number(ofBlock.sync_aggregate));
  });

  it("of the sync committee are filtered by index and key", async () => {
    const all: { validator_index: string }[] = await caller.call(OF_SYNC_COMMITTEE, [SLOT]);
    const [first, second] = all;
    const key = toHex(opened.devChain.keys.publicKey(Number(second!.validator_index))!);
    const some = await caller.call(OF_SYNC_COMMITTEE, [SLOT, [first!.validator_index, key]]);
    expect(some).toEqual([first, second]);
  });

  it("of attestations are what the balances gained when the next epoch ended, but for rounding", async () => {
    const epoch = 2;
    const result = await caller.call(OF_VOTES, [epoch]);
    expectStandard("POST", "attestations/{epoch}", result);
    const { ideal_rewards, total_rewards } = result;
    expect(total_rewards).toHaveLength(VALIDATORS);

    const lastSlot = (epoch + 2) * SLOTS_PER_EPOCH - 1;
    const before = await balancesAt(lastSlot);
    const after = await balancesAt(lastSlot + 1);
    const proposer = Number((await caller.call(OF_BLOCK, [lastSlot + 1])).proposer_index);
    const explained = new Map<number, number>();
    const add = (index: string, amount: string) =>
      explained.set(Number(index), (explained.get(Number(index)) ?? 0) + Number(amount));
    for (const { validator_index, head, target, source, inactivity } of total_rewards) {
      for (const amount of [head, target, source, inactivity]) add(validator_index, amount);
    }
    for (const { validator_index, reward } of await caller.call(OF_SYNC_COMMITTEE, [lastSlot + 1])) {
      add(validator_index, reward);
    }
    for (const [index, amount] of explained) {
      // The block of the new epoch's first slot paid its proposer besides.
      if (index === proposer) continue;
      // The library rounds each of three parts to the nearest Gwei where the chain rounds down.
      expect(Math.abs(after[index]! - before[index]! - amount)).toBeLessThanOrEqual(3);
    }

    const ideal = ideal_rewards.find((reward: { effective_balance: string }) => {
      return reward.effective_balance === "32000000000";
    });
    expect(Number(ideal.target)).toBeGreaterThan(Number(ideal.head));
  });

  it("of attestations are filtered by index and key, where unknown ones stand for nobody", async () => {
    const { total_rewards } = await caller.call(OF_VOTES, [2]);
    const key = toHex(opened.devChain.keys.publicKey(7)!);
    const some = await caller.call(OF_VOTES, [2, ["3", key]]);
    expect(some.total_rewards).toEqual([total_rewards[3], total_rewards[7]]);
    expect((await caller.call(OF_VOTES, [2, ["99"]])).total_rewards).toEqual([]);
  });

  it("are not known before the next epoch is over", async () => {
    expect(await caller.error(OF_VOTES, [4])).toMatchObject({ code: NOT_FOUND });
  });

  // The altair chain is the one that began in phase0.
  if (fork === "altair") {
    it("do not exist in phase0", async () => {
      expect(await caller.error(OF_BLOCK, [SLOTS_PER_EPOCH])).toMatchObject({ code: INVALID });
      expect(await caller.error(OF_SYNC_COMMITTEE, [SLOTS_PER_EPOCH])).toMatchObject({ code: INVALID });
      expect(await caller.error(OF_VOTES, [0])).toMatchObject({ code: INVALID });
    });
  }
});
