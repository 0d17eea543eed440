import { randomBytes } from "node:crypto";
import { multiaddr } from "@multiformats/multiaddr";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Caller } from "../../support/api/caller.ts";
import type { Adversary } from "./support/adversary.ts";
import { eventually, Scenario, statusOf } from "./support/scenario.ts";

const HISTORY_SLOTS = 71;

let scenario: Scenario;
beforeAll(async () => {
  scenario = await Scenario.begin({ historySlots: HISTORY_SLOTS, isAlone: true });
});
afterAll(() => scenario.end());

async function expectSyncing(distance: number): Promise<void> {
  const { victim, network } = scenario;
  const caller = new Caller(victim.api);
  const { currentEpoch } = network.clock;
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({
    is_syncing: true,
    sync_distance: String(distance),
  });
  expect(await caller.call("getSyncing")).toBe(true);
  expect(await caller.call("get_v1_node_health")).toEqual({ health: 206 });
  expect(await caller.error("get_v1_validator_duties_proposer", [currentEpoch])).toMatchObject({ code: -32002 });
}

async function leave(adversary: Adversary): Promise<void> {
  await adversary.close();
  await eventually(() => expect(scenario.isConnected(adversary)).toBe(false));
}

it("a node far behind reports syncing, whatever its only peer claims, and again after losing all peers", async () => {
  const { victim, honest, network } = scenario;
  await expectSyncing(HISTORY_SLOTS);

  const genesis = (await honest.chain.blocks.genesis())!.root;
  const behind = { headSlot: 0, headRoot: Buffer.from(genesis.slice(2), "hex") };
  const empty = await scenario.adversary({ status: () => ({ ...statusOf(honest), headRoot: randomBytes(32) }) });
  await eventually(() => expect(scenario.score(empty)).toBeLessThan(0));
  await expectSyncing(HISTORY_SLOTS);
  await leave(empty);
  await expectSyncing(HISTORY_SLOTS);

  await victim.networking.network.host.dial(multiaddr(honest.address));
  await victim.networking.sync.whenSynced();
  const caller = new Caller(victim.api);
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({ is_syncing: false, sync_distance: "0" });
  expect(await caller.call("get_v1_node_health")).toEqual({ health: 200 });

  const { peers } = victim.networking.network;
  await network.divide([honest]);
  await eventually(() => expect(peers.list()).toEqual([]));
  await network.clock.advanceTo(HISTORY_SLOTS + 5);
  await expectSyncing(5);
  await scenario.adversary({ status: () => ({ ...statusOf(honest), ...behind }) });
  await expectSyncing(5);
});
