import { expect, it } from "vitest";
import { idleFlags } from "./idle-flags.ts";

const OFF = { rpc: false, rest: false, metrics: false };
const given = (...names: string[]) => ({ given: new Map(names.map((name) => [name, []])) });

it("tells of the flags of each server that is off how it is started", () => {
  expect(idleFlags(given("rpc-port", "data-dir", "rest-address", "rest-port"), OFF)).toEqual([
    "--rpc-port does nothing without --rpc, which starts that server.",
    "--rest-address, --rest-port do nothing without --rest, which starts that server.",
  ]);
});

it("tells nothing of the others", () => {
  expect(idleFlags(given("rpc-port", "rest", "rest-port"), { ...OFF, rpc: true, rest: true })).toEqual([]);
  expect(idleFlags(given("validators"), OFF)).toEqual([]);
});
