import { describe, expect, it } from "vitest";
import { didYouMean, nearestFlag } from "./did-you-mean.ts";

const NAMES = ["rpc", "rpc-port", "rpc-address", "validators", "fork", "fork-at", "data-dir"];

describe("nearest name", () => {
  const cases: [written: string, nearest: string | undefined][] = [
    ["rpc-prot", "rpc-port"],
    ["rpcport", "rpc-port"],
    ["rpcPort", "rpc-port"],
    ["RPC_PORT", "rpc-port"],
    ["port", "rpc-port"],
    ["validator", "validators"],
    ["validator-count", "validators"],
    ["frok", "fork"],
    ["datadr", "data-dir"],
    ["something-else", undefined],
  ];
  for (const [written, nearest] of cases) {
    it(`of ${written} is ${nearest}`, () => expect(nearestFlag(written, NAMES)).toBe(nearest));
  }

  it("formats a suggestion, or nothing", () => {
    expect(didYouMean("frok", NAMES, "--")).toBe(" Did you mean --fork?");
    expect(didYouMean("something-else", NAMES)).toBe("");
  });
});
