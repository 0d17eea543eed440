import type { BeaconConfig } from "@lodestar/config";
import { expect, test } from "vitest";
import type { Clock } from "../../chain/clock/clock.ts";
import { isInShare } from "./even-share.ts";
import { DevLateBlocks } from "./late-blocks.ts";
import type { DevTime } from "./time.ts";

/** Late blocks at slot 10 of a chain with slots of 6 seconds, in which attesting is due after 2. */
function lateBlocks(): DevLateBlocks {
  return new DevLateBlocks({
    clock: { currentSlot: 10, secondsPerSlot: 6 } as Clock,
    config: { getAttestationDueMs: () => 2000, getForkName: () => "fulu" } as unknown as BeaconConfig,
    time: { inTurn: (work: () => Promise<unknown>) => work() } as unknown as DevTime,
  });
}

test("blocks are late from the next slot on, for as many slots as are wanted", async () => {
  const late = lateBlocks();
  expect(late.latenessAt(11)).toBeUndefined();
  const delay = await late.delay({ slots: 2, slotsLate: 1, seconds: 3 });
  expect(delay).toEqual({ fromSlot: 11, untilSlot: 13, slotsLate: 1, seconds: 3 });
  const lateness = { slots: 1, seconds: 3 };
  expect([10, 11, 12, 13].map((slot) => late.latenessAt(slot))).toEqual([undefined, lateness, lateness, undefined]);
});

test("blocks come halfway between attesting and the end of the slot, unless told otherwise", async () => {
  expect(await lateBlocks().delay({ slots: 1, slotsLate: 0, seconds: undefined })).toMatchObject({ seconds: 4 });
});

test.each([2, 5.94])("a block may come %d seconds into its slot", async (seconds) => {
  expect(await lateBlocks().delay({ slots: 1, slotsLate: 0, seconds })).toMatchObject({ seconds });
});

test.each([1.999, 5.941])("no late block comes %d seconds into its slot", (seconds) => {
  expect(() => lateBlocks().delay({ slots: 1, slotsLate: 0, seconds })).toThrow(
    `"seconds" must be from 2, when attesting is due, to 5.94, the end of the slot; it is ${seconds}.`,
  );
});

test("a captured delay is restored, whatever was ordered since", async () => {
  const late = lateBlocks();
  const restoreNone = late.capture();
  await late.delay({ slots: 1, slotsLate: 2, seconds: 3 });
  const restoreFirst = late.capture();
  await late.delay({ slots: 9, slotsLate: 0, seconds: 5 });
  restoreFirst();
  expect(late.latenessAt(11)).toEqual({ slots: 2, seconds: 3 });
  restoreNone();
  expect(late.latenessAt(11)).toBeUndefined();
});

test.each([
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
