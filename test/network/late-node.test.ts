import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { range, TestNetwork } from "./support/test-network.ts";

const HISTORY_EPOCHS = 12;
const VALIDATORS = 16;

it("a node that starts late syncs the chain and follows it", { timeout: 120_000 }, async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: [{ fork: "altair", epoch: 5 }] });
  const first = await network.add(range(0, VALIDATORS), [], { timing: "lockstep" });
  await network.clock.advanceTo(HISTORY_EPOCHS * SLOTS_PER_EPOCH);
  const finalized = first.chain.forkChoice.finalized.epoch;
  expect(finalized).toBe(HISTORY_EPOCHS - 2);

  const late = await network.add([], [first]);
  const caller = new Caller(late.api);
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({
    head_slot: "0",
    is_syncing: true,
    sync_distance: String(HISTORY_EPOCHS * SLOTS_PER_EPOCH),
  });
  expect(await caller.call("getSyncing")).toBe(true);
  expect(await caller.call("get_v1_node_health")).toEqual({ health: 206 });

  await late.networking.sync.whenSynced();
  await network.untilSameHead();
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({
    head_slot: String(HISTORY_EPOCHS * SLOTS_PER_EPOCH),
    is_syncing: false,
    sync_distance: "0",
  });
  expect(await caller.call("getSyncing")).toBe(false);
  expect(late.chain.forkChoice.finalized).toEqual(first.chain.forkChoice.finalized);

  await network.untilConnected();
  await network.runUntil(() => late.chain.forkChoice.finalized.epoch > finalized);
  await network.untilSameHead();
});
