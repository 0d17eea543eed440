import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { ManualClock } from "../../../../test/support/chain/clock/manual-clock.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { lastKnownEpoch } from "./duty-state.ts";

it("knows the committees of the next epoch, with a tolerance of half a second at epoch boundaries", () => {
  const clock = new ManualClock(1_700_000_000, 6);
  const chain = { clock } as unknown as BeaconChain;
  clock.set(2 * SLOTS_PER_EPOCH);
  expect(lastKnownEpoch(chain)).toBe(3);
  clock.set(3 * SLOTS_PER_EPOCH, -501);
  expect(lastKnownEpoch(chain)).toBe(3);
  clock.set(3 * SLOTS_PER_EPOCH, -500);
  expect(lastKnownEpoch(chain)).toBe(4);
});
