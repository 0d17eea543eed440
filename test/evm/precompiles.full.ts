import { beforeAll, describe, expect, it } from "vitest";
import { CASES, mutated } from "../support/evm/precompiles/cases.ts";
import { openPrecompiles, type RunPrecompile } from "../support/evm/precompiles/comparison.ts";

const MUTATIONS = 100;

describe("precompiles with a byte changed in any of their inputs", () => {
  let ours: RunPrecompile;
  let library: RunPrecompile;

  beforeAll(async () => {
    ({ ours, library } = await openPrecompiles());
  });

  it.each(CASES)("return what the library returns: $name", async ({ address, inputs }) => {
    const all = inputs().filter(({ length }) => length > 0);
    for (let seed = 0; seed < MUTATIONS; seed++) {
      const input = mutated(all[seed % all.length]!, seed);
      expect(await ours(address, input), Buffer.from(input).toString("hex")).toEqual(await library(address, input));
    }
  });
});
