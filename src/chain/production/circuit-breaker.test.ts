import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { CircuitBreaker, missedSlots } from "./circuit-breaker.ts";

/** A chain of blocks at the given slots, starting with the first one. Each block is named after its slot. */
function chainOf(slots: readonly number[]) {
  const blocks = slots.map((slot, position) => ({ slot, root: String(slot), parentRoot: String(slots[position - 1]) }));
  const byRoot = new Map(blocks.map((block) => [block.root, block as ForkChoiceBlock]));
  return { get: (root: string) => byRoot.get(root), head: byRoot.get(String(slots.at(-1)))! };
}

const missed = (slots: readonly number[], slot: number) => missedSlots(chainOf(slots), String(slots.at(-1)), slot);

describe("missedSlots", () => {
  it("counts up to the block's slot", () => {
    expect(missed([0, 1, 2, 3], 4)).toEqual({ inARow: 0, inAnEpoch: 0 });
    expect(missed([0, 1, 3], 7)).toEqual({ inARow: 3, inAnEpoch: 4 });
  });

  it("ignores slots before genesis and before the anchor", () => {
    expect(missed([0], 1)).toEqual({ inARow: 0, inAnEpoch: 0 });
    expect(missed([0], 3)).toEqual({ inARow: 2, inAnEpoch: 2 });
    expect(missed([100, 102], 104)).toEqual({ inARow: 1, inAnEpoch: 2 });
  });

  it("drops slots after an epoch", () => {
    const sinceThen = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => 10 + i);
    expect(missed([0, 1, 2, ...sinceThen], 10 + SLOTS_PER_EPOCH)).toEqual({ inARow: 0, inAnEpoch: 0 });
    expect(missed([0, 1, 2], 40)).toEqual({ inARow: 37, inAnEpoch: SLOTS_PER_EPOCH });
  });
});

describe("CircuitBreaker", () => {
  const parts = (slots: readonly number[]) => ({
    clock: new VirtualClock({ genesisTime: 0, secondsPerSlot: 1, startSlot: 0, speed: 1, onListenerError() {} }),
    forkChoice: chainOf(slots),
    status: { isSyncing: false },
    settings: { fallbackSkips: 3, fallbackSkipsPerEpoch: 5 },
    logger: createRecordingLogger(),
  });

  it("opens after consecutive missed slots or too many in an epoch", () => {
    const inARow = new CircuitBreaker(parts([0, 1, 2]));
    expect([5, 6].map((slot) => inARow.isOpen("2", slot))).toEqual([false, true]);
    const inAnEpoch = new CircuitBreaker(parts([0, 1, 4, 7]));
    expect([8, 9].map((slot) => inAnEpoch.isOpen("7", slot))).toEqual([false, true]);
  });

  it("logs opening and closing once, and nothing while syncing", async () => {
    const all = parts([0]);
    const { clock, logger } = all;
    const stop = new CircuitBreaker(all).start();
    all.status.isSyncing = true;
    await clock.advanceTo(4);
    expect(logger.records).toEqual([]);
    all.status.isSyncing = false;
    await clock.advanceTo(7);
    expect(logger.records).toMatchObject([{ level: "warn", fields: { inARow: 4, inAnEpoch: 4 } }]);
    Object.assign(all.forkChoice, chainOf([0, 5, 6, 7, 8, 9]));
    await clock.advanceTo(10);
    expect(logger.records.map(({ level }) => level)).toEqual(["warn", "notice"]);
    stop();
  });
});
