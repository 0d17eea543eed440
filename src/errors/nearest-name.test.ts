import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

const names = ["getBeaconHead", "getBeaconBlock", "get_v1_beacon_genesis", "peers", "rpc-port"];

it.each([
  ["getBeaconHead", "getBeaconHead"],
  ["getBeaconHaed", "getBeaconHead"],
  ["getbeaconblock", "getBeaconBlock"],
  ["get_v2_beacon_genesis", "get_v1_beacon_genesis"],
  ["get_beacon_genesis", "get_v1_beacon_genesis"],
  ["peer", "peers"],
  ["port", "rpc-port"],
  ["eth_blockNumber", undefined],
  ["getBeacon", "getBeaconHead"],
  ["", undefined],
  ["x".repeat(1_000_000), undefined],
])("finds for %.30s the name %s", (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest);
});

it("prefers the candidate with the fewest edits", () => {
  expect(nearestName("abcdef", ["abcxyz", "abcdxf", "abcxef"])).toBe("abcdxf");
});
