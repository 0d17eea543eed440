import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

vi.setConfig({ testTimeout: 120_000 });

const VALIDATORS = 16;
const HISTORY_EPOCHS = 5;
const ANCHOR_SLOT = 3 * SLOTS_PER_EPOCH;
const ends: (() => Promise<void>)[] = [];

let network: TestNetwork;
let source: TestNode;
beforeAll(async () => {
  network = new TestNetwork({ validators: VALIDATORS, cleanUp: (end) => ends.push(end) });
  source = await network.add(range(0, VALIDATORS), [], { timing: "lockstep", authority: "sole" });
  await network.clock.advanceTo(HISTORY_EPOCHS * SLOTS_PER_EPOCH);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

it("a checkpoint-synced node backfills the whole history and serves it", async () => {
  const anchor = (await source.chain.states.canonicalAtSlot(ANCHOR_SLOT))!;
  const node = await network.add([], [source], { anchor });
  await network.untilSameHead([source, node]);
  await untilHeld(node, 1);
  for (let slot = 1; slot <= ANCHOR_SLOT; slot++) {
    expect(await node.chain.blocks.rootAtSlot(slot)).toBe(await source.chain.blocks.rootAtSlot(slot));
  }
  const caller = new Caller(node.api);
  expect(await caller.call("get_v1_beacon_headers_blockId", ["3"])).toEqual(
    await new Caller(source.api).call("get_v1_beacon_headers_blockId", ["3"]),
  );

  // It has no other peer, so all blocks come from the backfilled node.
  const third = await network.add([], [node], { anchor });
  await network.untilSameHead([node, third]);
  await untilHeld(third, 1);
  expect(await third.chain.blocks.rootAtSlot(1)).toBe(await source.chain.blocks.rootAtSlot(1));
});

/** Resolves when the node has all blocks from a slot on. */
const untilHeld = ({ chain }: TestNode, slot: number) =>
  vi.waitFor(() => expect(chain.history.earliestBlockSlot).toBe(slot), { timeout: 60_000 });
