import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

const names = ["getBeaconHead", "getBeaconBlock", "get_v1_beacon_genesis", "peers"];

it.each([
  ["getBeaconHaed", "getBeaconHead"],
  ["getbeaconblock", "getBeaconBlock"],
  ["get_v2_beacon_genesis", "get_v1_beacon_genesis"],
  ["peer", "peers"],
  ["eth_blockNumber", undefined],
  ["", undefined],
  ["x".repeat(1_000_000), undefined],
])("the name nearest to %.30s is %s", (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest);
});
