import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { openDevChain } from "../support/chain/dev-chain.ts";

it("a chain continues and finalizes after its clock was far ahead for a moment", async () => {
  const { devChain, complaints } = await openDevChain();
  const { chain, clock } = devChain;
  await clock.advanceTo(SLOTS_PER_EPOCH + 2);
  // Effects of a slot announced by a clock that is an hour ahead.
  chain.forkChoice.onTick(clock.currentSlot + 1800);
  await chain.refreshHead();
  await clock.advanceTo(SLOTS_PER_EPOCH + 3);
  expect(chain.forkChoice.currentSlot).toBe(SLOTS_PER_EPOCH + 3);
  await clock.advanceTo(4 * SLOTS_PER_EPOCH + 1);
  expect(chain.head.slot).toBe(4 * SLOTS_PER_EPOCH + 1);
  expect(chain.forkChoice.finalized.epoch).toBe(2);
  expect(complaints).toEqual([]);
});
