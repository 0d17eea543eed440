import { expect, test } from "vitest";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { type PeerSync, whileSynced } from "./synced-validators.ts";
import type { DevValidators } from "./validators.ts";

/** Runs a slot in each of the situations, the first of which is slot 1; the result is in which slots validators acted. */
async function slotsActedIn(
  isFounder: boolean,
  situations: readonly PeerSync[],
): Promise<{ slots: number[]; said: string[] }> {
  const slots: number[] = [];
  const validators: DevValidators = {
    onSlot: async (slot) => void slots.push(slot),
    onHead() {},
    async close() {},
  };
  const sync = { isInformed: false, isSyncing: false };
  const logger = createRecordingLogger();
  const synced = whileSynced({ validators, sync, isFounder, logger });
  for (const [index, situation] of situations.entries()) {
    Object.assign(sync, situation);
    await synced.onSlot(index + 1);
  }
  return { slots, said: logger.records.map(({ message }) => message) };
}

const ALONE = { isInformed: false, isSyncing: false };
const ALONE_AND_BEHIND = { isInformed: false, isSyncing: true };
const BEHIND = { isInformed: true, isSyncing: true };
const LEVEL = { isInformed: true, isSyncing: false };

test("validators act when their node is level with peers, not while it knows of none or is behind them", async () => {
  const { slots, said } = await slotsActedIn(false, [ALONE, ALONE_AND_BEHIND, BEHIND, LEVEL, LEVEL, BEHIND, LEVEL]);
  expect(slots).toEqual([4, 5, 7]);
  // Once whenever it changes.
  expect(said.map((text) => text.includes("wait"))).toEqual([true, false, true, false]);
});

test("validators of the node that the chain begins with need not wait for anybody to come", async () => {
  const { slots } = await slotsActedIn(true, [ALONE, ALONE_AND_BEHIND, BEHIND, LEVEL]);
  expect(slots).toEqual([1, 2, 4]);
});
