import { setImmediate } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { ManualClock } from "../../test/support/chain/clock/manual-clock.ts";
import { preloadTrustedSetup } from "./preload-trusted-setup.ts";

const SLOT_SECONDS = 2;

/** Creates a node at `epoch` on a chain with deneb at `denebEpoch`. */
function nodeAt(epoch: number, denebEpoch: number) {
  const clock = new ManualClock(1_000, SLOT_SECONDS);
  const goTo = async (slot: number) => {
    clock.advanceTo(clock.slotStartSeconds(slot));
    await setImmediate();
  };
  clock.advanceTo(clock.slotStartSeconds(epoch * SLOTS_PER_EPOCH));
  let times = 0;
  const kzg = { prepare: () => void times++ };
  const { close } = preloadTrustedSetup({ config: { DENEB_FORK_EPOCH: denebEpoch }, clock, data: { kzg } });
  return { goTo, close, timesPrepared: () => times };
}

it("loads at once if deneb is active or near", () => {
  for (const denebEpoch of [0, 5, 7]) expect(nodeAt(5, denebEpoch).timesPrepared()).toBe(1);
});

it("loads two epochs before deneb, unless closed", async () => {
  const [node, closed] = [nodeAt(5, 9), nodeAt(5, 9)];
  closed.close();
  for (const { goTo, timesPrepared } of [node, closed]) {
    await goTo(7 * SLOTS_PER_EPOCH - 1);
    expect(timesPrepared()).toBe(0);
    await goTo(7 * SLOTS_PER_EPOCH);
  }
  expect([node, closed].map(({ timesPrepared }) => timesPrepared())).toEqual([1, 0]);
});

it("never loads without deneb", async () => {
  const { goTo, timesPrepared } = nodeAt(5, Number.POSITIVE_INFINITY);
  await goTo(10_000);
  expect(timesPrepared()).toBe(0);
});
