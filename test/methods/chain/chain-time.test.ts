import { expect, it } from "vitest";
import { Caller } from "../../support/api/caller.ts";
import { openDevChain, QUIET } from "../../support/chain/dev-chain.ts";

const GENESIS_TIME = 1_700_000_000;

it("returns chain time, wall clock time, their offset and both slots", async () => {
  let now = GENESIS_TIME + 25.25;
  const timeOfDay = { nowSeconds: () => now };
  const { devChain } = await openDevChain({ ...QUIET, slotSeconds: 6, genesisTime: GENESIS_TIME, timeOfDay });
  const caller = new Caller(devChain.api);
  await devChain.clock.advanceTo(2);
  expect(await caller.call("getChainTime")).toEqual({
    chain_time: "1700000012.000",
    wall_time: "1700000025.250",
    offset: "-13.250",
    speed: 0,
    slot: "2",
    wall_slot: "4",
    seconds_to_next_slot: "6.000",
  });
  now = GENESIS_TIME - 3;
  expect(await caller.call("getChainTime")).toMatchObject({ offset: "15.000", slot: "2", wall_slot: "0" });
});
