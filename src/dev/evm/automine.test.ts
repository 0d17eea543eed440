import { expect, it } from "vitest";
import { Automine } from "./automine.ts";

/** Creates an automine for a chain without blocks, on which one slot takes `slotMs`. */
function emptyChain(slotMs: number) {
  let now = 0;
  let slots = 0;
  const automine = new Automine({
    clock: { isFlowing: false },
    time: {
      isFixed: false,
      whilePaused: (work) => work(false),
      advanceSlot: async () => {
        slots++;
        now += slotMs;
      },
    },
    isLive: () => true,
    untilFollowed: async () => {},
    headSlot: () => 0,
    executableCount: async () => 1,
    timers: { now: () => now },
  });
  return { automine, slots: () => slots };
}

it("leaves a transaction in the pool after 32 empty slots", async () => {
  const { automine, slots } = emptyChain(1);
  await automine.onTransaction();
  expect(slots()).toBe(32);
});

it("leaves a transaction in the pool after slow empty slots, since other calls wait for it", async () => {
  const { automine, slots } = emptyChain(6000);
  await automine.onTransaction();
  expect(slots()).toBe(1);
});
