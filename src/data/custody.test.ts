import { describe, expect, it } from "vitest";
import { columnsOfGroups, custodyGroupsOf, custodyRequirementOf } from "./custody.ts";

const CONFIG = { NUMBER_OF_CUSTODY_GROUPS: 128 };
const LARGEST_ID = 2n ** 256n - 1n;

const idOf = (number: bigint) => new Uint8Array(Buffer.from(number.toString(16).padStart(64, "0"), "hex"));
const groupsOf = (id: bigint, count: number) => custodyGroupsOf(CONFIG, idOf(id), count);

describe("custody groups", () => {
  // From the specification's Fulu test vectors, networking/get_custody_groups.
  it.each<[bigint, number[]]>([
    [1048576n, [65]],
    [LARGEST_ID, [1, 47, 87, 102]],
    [84065159290331321853352677657753050104170032838956724170714636178275273565505n, [27, 29, 58, 67, 96, 117]],
    [
      51781405571328938149219259614021022118347017557305093857689627172914154745642n,
      [
        3, 6, 7, 8, 9, 12, 25, 26, 29, 30, 32, 40, 42, 47, 52, 53, 54, 55, 56, 57, 69, 70, 71, 72, 74, 77, 80, 81, 83,
        88, 93, 94, 95, 98, 101, 105, 106, 112, 114, 116, 118, 120, 121, 123, 124, 125, 127,
      ],
    ],
  ])("of node %s match the specification", (id, groups) => {
    expect(groupsOf(id, groups.length)).toEqual(groups);
  });

  it("are kept as the count grows, up to all groups", () => {
    for (const id of [0n, 7n, LARGEST_ID - 1n]) {
      expect(groupsOf(id, 0)).toEqual([]);
      expect(groupsOf(id, 8)).toEqual(expect.arrayContaining(groupsOf(id, 4)));
      expect(groupsOf(id, 127)).toHaveLength(127);
      expect(groupsOf(id, 128)).toEqual(Array.from({ length: 128 }, (_, group) => group));
      expect(groupsOf(id, 1000)).toHaveLength(128);
    }
  });

  it("have the same number of columns each", () => {
    expect(columnsOfGroups(CONFIG, [3, 54])).toEqual([3, 54]);
    expect(columnsOfGroups({ NUMBER_OF_CUSTODY_GROUPS: 64 }, [3, 54])).toEqual([3, 54, 67, 118]);
  });

  it("follow the validators' balance", () => {
    const config = {
      ...CONFIG,
      BALANCE_PER_ADDITIONAL_CUSTODY_GROUP: 32e9,
      VALIDATOR_CUSTODY_REQUIREMENT: 8,
    };
    const groupsFor = (ether: number) => custodyRequirementOf(config, ether * 1e9);
    expect([1, 256, 287, 288, 4096, 1e6].map(groupsFor)).toEqual([8, 8, 8, 9, 128, 128]);
  });
});
