import { expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { range, TestNetwork } from "./support/test-network.ts";

const VALIDATORS = 16;
/** More than ten minutes. */
const EMPTY_SLOTS = 400;

it("nodes of a stalled network agree on their old head and continue", { timeout: 60_000 }, async () => {
  const network = new TestNetwork({ validators: VALIDATORS });
  const maker = await network.add(range(0, VALIDATORS), [], { timing: "lockstep", restsAt: range(2, EMPTY_SLOTS + 1) });
  await network.clock.advanceTo(EMPTY_SLOTS);
  const first = await network.add(range(0, 8), [maker]);
  await network.untilSameHead();
  await maker.close();
  network.nodes.shift();
  const caller = new Caller(first.api);
  const epoch = network.clock.currentEpoch;
  // Another node may have continued meanwhile; a node without peers cannot know.
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({ is_syncing: true, sync_distance: "399" });
  expect(await caller.error("get_v1_validator_duties_proposer", [epoch])).toMatchObject({ code: -32002 });

  const second = await network.add(range(8, VALIDATORS), [first]);
  await network.untilConnected();
  await network.untilSameHead();
  // In each slot they exchange their status.
  await network.clock.advanceTo(EMPTY_SLOTS + 1);
  await first.networking.sync.whenSynced();
  expect(await caller.call("get_v1_node_syncing")).toMatchObject({ is_syncing: false, sync_distance: "0" });
  expect(await caller.call("get_v1_validator_duties_proposer", [epoch])).toHaveLength(8);
  const isGoingOn = () => network.nodes.every(({ chain }) => chain.head.slot > EMPTY_SLOTS + 8);
  await network.runUntil(isGoingOn);
  await network.untilSameHead();
  // Blocks of both.
  const proposers = new Set<boolean>();
  for (let slot = EMPTY_SLOTS + 1; slot <= second.chain.head.slot; slot++) {
    const block = await second.chain.blocks.canonicalAtSlot(slot);
    if (block) proposers.add(block.signed.message.proposerIndex < 8);
  }
  expect(proposers).toEqual(new Set([true, false]));
});
