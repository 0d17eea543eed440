import { expect, test } from "vitest";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { whileSynced } from "./synced-validators.ts";
import type { DevValidators } from "./validators.ts";

test("validators act in the slots in which their node is synced, and say once when that changes", async () => {
  const slots: number[] = [];
  const validators: DevValidators = {
    onSlot: async (slot) => void slots.push(slot),
    onHead() {},
    onGoneBack() {},
    async close() {},
  };
  const status = { isSyncing: true };
  const logger = createRecordingLogger();
  const synced = whileSynced({ validators, status, logger });
  for (const [index, isSyncing] of [true, true, false, false, true, false].entries()) {
    status.isSyncing = isSyncing;
    await synced.onSlot(index + 1);
  }
  expect(slots).toEqual([3, 4, 6]);
  expect(logger.records.map(({ message }) => message.includes("wait"))).toEqual([true, false, true, false]);
});
