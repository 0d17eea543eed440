import { expect, it } from "vitest";
import { slotAt, timeOfSlot } from "../../src/web/slot-time.ts";

const chain = { genesisTime: 1000, secondsPerSlot: 12 };

it("converts slots and timestamps", () => {
  expect(timeOfSlot(3, chain)).toBe(1036);
  expect(slotAt(1036, chain)).toBe(3);
  expect(slotAt(1000, chain)).toBe(0);
});

it("finds no slot for timestamps before genesis or between slots", () => {
  expect(slotAt(988, chain)).toBeUndefined();
  expect(slotAt(1037, chain)).toBeUndefined();
});
