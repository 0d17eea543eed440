import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMethodTable } from "../../../src/api/bound-methods.ts";
import { createRouteTable } from "../../../src/api/rest/routes.ts";
import { OpenApi } from "../../conformance/openapi.ts";
import { Caller } from "../../support/api/caller.ts";
import { type OpenedDevChain, openQuietDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";
import { variants } from "../../support/suite/tier.ts";

const OF_BLOCK = "get_v1_beacon_rewards_blocks_blockId";
const OF_SYNC_COMMITTEE = "post_v1_beacon_rewards_sync_committee_blockId";
const OF_VOTES = "post_v1_beacon_rewards_attestations_epoch";
const VALIDATORS = 16;
const HEAD = 5 * SLOTS_PER_EPOCH - 1;
/** Not the first slot of its epoch, so that only the block changes balances. */
const SLOT = 3 * SLOTS_PER_EPOCH + 4;
const NOT_FOUND = -32001;

const standard = new OpenApi("v4.0.0");

function expectStandard(verb: "GET" | "POST", path: string, result: unknown): void {
  const { data } = standard.validator({ verb, path: `/eth/v1/beacon/rewards/${path}` })!;
  data(result);
  expect(data.errors ?? []).toEqual([]);
}

describe.each(variants({ fast: ["fulu"], full: ["altair"] } as const))("rewards on a chain that becomes %s", (fork) => {
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

  it("of a block and its sync committee equal the balance changes", async () => {
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

  it("of votes have the standard format, without inclusion delays after phase0", async () => {
    const result = await caller.call(OF_VOTES, [2]);
    expectStandard("POST", "attestations/{epoch}", result);
    const { ideal_rewards, total_rewards } = result;
    expect(total_rewards).toHaveLength(VALIDATORS);
    expect([...ideal_rewards, ...total_rewards].filter((reward) => "inclusion_delay" in reward)).toEqual([]);
    const ideal = ideal_rewards.find((reward: { effective_balance: string }) => {
      return reward.effective_balance === "32000000000";
    });
    expect(Number(ideal.target)).toBeGreaterThan(Number(ideal.head));
  });

  it("of attestations are filtered by index and key, ignoring unknown ones", async () => {
    const { total_rewards } = await caller.call(OF_VOTES, [2]);
    const key = toHex(opened.devChain.keys.publicKey(7)!);
    const some = await caller.call(OF_VOTES, [2, ["3", key]]);
    expect(some.total_rewards).toEqual([total_rewards[3], total_rewards[7]]);
    expect((await caller.call(OF_VOTES, [2, ["99"]])).total_rewards).toEqual([]);
  });

  it("are available with the last block of the next epoch, not before", async () => {
    expect((await caller.call(OF_VOTES, [3])).total_rewards).toHaveLength(VALIDATORS);
    expect(await caller.error(OF_VOTES, [4])).toMatchObject({
      code: NOT_FOUND,
      message: expect.stringContaining("the next epoch is not over. It ends with slot 47."),
    });
  });

  it("of the genesis block are zero", async () => {
    expect(await caller.call(OF_BLOCK, ["genesis"])).toEqual({
      proposer_index: "0",
      total: "0",
      attestations: "0",
      sync_aggregate: "0",
      proposer_slashings: "0",
      attester_slashings: "0",
    });
    const ofCommittee: { reward: string }[] = await caller.call(OF_SYNC_COMMITTEE, ["0"]);
    expect(ofCommittee.length > 0).toBe(fork === "fulu");
    expect(ofCommittee.filter(({ reward }) => reward !== "0")).toEqual([]);
  });

  it("have no SSZ encoding, which cannot represent penalties", () => {
    const routes = createRouteTable(createMethodTable(opened.devChain.api));
    const ofRewards = routes.filter(({ path }) => path.startsWith("/eth/v1/beacon/rewards/"));
    expect(ofRewards.map(({ responseFormats }) => responseFormats)).toEqual([["json"], ["json"], ["json"]]);
  });

  // The altair chain started in phase0.
  if (fork === "altair") {
    it("in phase0 are part of the attestation rewards, with the proposer's share in the inclusion delay", async () => {
      const ofBlock = await caller.call(OF_BLOCK, [SLOTS_PER_EPOCH]);
      expectStandard("GET", "blocks/{block_id}", ofBlock);
      expect(ofBlock).toMatchObject({ total: "0", attestations: "0", sync_aggregate: "0" });
      expect(await caller.call(OF_SYNC_COMMITTEE, [SLOTS_PER_EPOCH])).toEqual([]);

      const ofVotes = await caller.call(OF_VOTES, [0]);
      expectStandard("POST", "attestations/{epoch}", ofVotes);
      const ideal = ofVotes.ideal_rewards.at(-1);
      expect(ideal.effective_balance).toBe("32000000000");
      const delays: number[] = ofVotes.total_rewards.map((reward: { inclusion_delay: string }) => {
        return Number(reward.inclusion_delay);
      });
      expect(delays).toContain(Number(ideal.inclusion_delay));
      expect(Math.max(...delays)).toBeGreaterThan(Number(ideal.inclusion_delay));
    });
  }
});

it("rewards of votes are not available in the last slot of the next epoch before its block, but after it", async () => {
  const { devChain } = await openQuietDevChain(1, { forks: [{ fork: "altair", epoch: 0 }] });
  const caller = new Caller(devChain.api);
  await devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH - 1);
  expect(await caller.error(OF_VOTES, [0])).toMatchObject({
    code: NOT_FOUND,
    message: expect.stringContaining("the next epoch is not over. It ends with slot 15."),
  });
  await devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH);
  expect((await caller.call(OF_VOTES, [0])).total_rewards).toHaveLength(devChain.keys.count);
});
