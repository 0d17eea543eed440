import { expect, it } from "vitest";
import { unusedFlagWarnings } from "./unused-flags.ts";

const OFF = { rpc: false, rest: false, metrics: false };
const given = (...names: string[]) => ({ given: new Map(names.map((name) => [name, []])) });

it("tells of the flags of each server that is off how it is started", () => {
  expect(unusedFlagWarnings(given("rpc-port", "data-dir", "rest-address", "rest-port"), OFF)).toEqual([
    "--rpc-port has no effect without --rpc",
    "--rest-address, --rest-port have no effect without --rest",
  ]);
});

it("tells nothing of the others", () => {
  expect(unusedFlagWarnings(given("rpc-port", "rest", "rest-port"), { ...OFF, rpc: true, rest: true })).toEqual([]);
  expect(unusedFlagWarnings(given("validators"), OFF)).toEqual([]);
});
