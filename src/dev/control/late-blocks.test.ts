import type { BeaconConfig } from "@lodestar/config";
import { expect, it } from "vitest";
import type { Clock } from "../../chain/clock/clock.ts";
import { isInShare } from "./even-share.ts";
import { DevLateBlocks } from "./late-blocks.ts";
import type { DevTime } from "./time.ts";

/** Creates block delays at slot 10, with 6-second slots and an attestation deadline of 2 seconds. */
function lateBlocks(): DevLateBlocks {
  return new DevLateBlocks({
    clock: { currentSlot: 10, secondsPerSlot: 6 } as Clock,
    config: { getAttestationDueMs: () => 2000, getForkName: () => "fulu" } as unknown as BeaconConfig,
    time: { exclusive: (work: () => Promise<unknown>) => work() } as unknown as DevTime,
  });
}

it("delays the blocks of the given number of slots, from the next slot on", async () => {
  const late = lateBlocks();
  expect(late.delayAt(11)).toBeUndefined();
  const delay = await late.delay({ slots: 2, slotsLate: 1, seconds: 3 });
  expect(delay).toEqual({ fromSlot: 11, untilSlot: 13, slotsLate: 1, seconds: 3 });
  const blockDelay = { slots: 1, seconds: 3 };
  expect([10, 11, 12, 13].map((slot) => late.delayAt(slot))).toEqual([undefined, blockDelay, blockDelay, undefined]);
});

it("defaults to halfway between the attestation deadline and the end of the slot", async () => {
  expect(await lateBlocks().delay({ slots: 1, slotsLate: 0, seconds: undefined })).toMatchObject({ seconds: 4 });
});

it.each([2, 5.94])("accepts a delay of %d seconds", async (seconds) => {
  expect(await lateBlocks().delay({ slots: 1, slotsLate: 0, seconds })).toMatchObject({ seconds });
});

it.each([1.999, 5.941])("rejects a delay of %d seconds", (seconds) => {
  expect(() => lateBlocks().delay({ slots: 1, slotsLate: 0, seconds })).toThrow(
    `"seconds" must be from 2 (attestation deadline) to 5.94 (end of the slot), got ${seconds}.`,
  );
});

it("restores a captured delay", async () => {
  const late = lateBlocks();
  const restoreNone = late.capture();
  await late.delay({ slots: 1, slotsLate: 2, seconds: 3 });
  const restoreFirst = late.capture();
  await late.delay({ slots: 9, slotsLate: 0, seconds: 5 });
  restoreFirst();
  expect(late.delayAt(11)).toEqual({ slots: 2, seconds: 3 });
  restoreNone();
  expect(late.delayAt(11)).toBeUndefined();
});

it.each([
  [0, [false, false, false, false]],
  [0.25, [false, true, false, false]],
  [0.5, [true, false, true, false]],
  [0.75, [true, true, false, true]],
  [1, [true, true, true, true]],
])("a share of %d is spread evenly", (share, members) => {
  expect([0, 1, 2, 3].map((position) => isInShare(position, share))).toEqual(members);
  const first100 = Array.from({ length: 100 }, (_, position) => isInShare(position, share));
  expect(first100.filter(Boolean)).toHaveLength(100 * share);
});
