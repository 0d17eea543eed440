import { describe, expect, it } from "vitest";
import { StartupError } from "../../exit.ts";
import { FlagValueError } from "../flag-values.ts";
import { listedValidators, parseValidatorList } from "./validator-list.ts";

const indicesOf = (text: string, count = 64) => listedValidators(parseValidatorList(text), count, "--flag");

describe("validator list", () => {
  it.each([
    ["all", undefined],
    ["none", []],
    ["5", [5]],
    ["0-3", [0, 1, 2, 3]],
    ["0-2,20", [0, 1, 2, 20]],
    [" 20, 0-2 ", [0, 1, 2, 20]],
    ["3-3,3,2-4", [2, 3, 4]],
    ["63", [63]],
  ])("parses %j to %j", (text, indices) => {
    expect(indicesOf(text)).toEqual(indices);
  });

  it.each(["", "some", "1,", "-1", "3-1", "1.5", "0x1", "1-2-3", "all,1", "9".repeat(20)])("rejects %j", (text) => {
    expect(() => parseValidatorList(text)).toThrow(FlagValueError);
  });

  it("rejects indices beyond the number of validators", () => {
    expect(() => indicesOf("0-99999999999", 16)).toThrow(StartupError);
    expect(() => indicesOf("16", 16)).toThrow(
      "--flag includes validator 16, but the chain has only 16 validators. Use indices from 0 to 15.",
    );
  });
});
