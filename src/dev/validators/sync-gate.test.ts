import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { gateOnSync } from "./sync-gate.ts";
import type { DevValidators } from "./validators.ts";

it("validators act only while their node is synced, and log each change once", async () => {
  const slots: number[] = [];
  const validators: DevValidators = {
    onSlot: async (slot) => void slots.push(slot),
    onHead() {},
    onReverted() {},
    captureLate: () => () => {},
    async close() {},
  };
  const status = { isSyncing: true };
  const logger = createRecordingLogger();
  const synced = gateOnSync({ validators, status, logger });
  for (const [index, isSyncing] of [true, true, false, false, true, false].entries()) {
    status.isSyncing = isSyncing;
    await synced.onSlot(index + 1);
  }
  expect(slots).toEqual([3, 4, 6]);
  expect(logger.records.map(({ message }) => message.includes("waiting"))).toEqual([true, false, true, false]);
});
