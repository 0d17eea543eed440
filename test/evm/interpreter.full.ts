import { describe, expect, it } from "vitest";
import { EXECUTION_FORKS } from "../../src/evm/execution/forks.ts";
import { compareInterpreters, openMachines } from "../support/evm/interpreters.ts";
import { randomProgram } from "../support/evm/random-program.ts";
import { compareBlocks } from "./interpreter-blocks.ts";

const TRANSACTIONS = 20_000;
const SEEDS = 10;
const PROGRAMS = 3000;

describe("the interpreter has the results of the EVM library's", () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => 100 + index))("random transactions of seed %i", async (seed) => {
    const { succeeded, failed } = await compareBlocks(TRANSACTIONS / SEEDS, seed);
    expect(succeeded).toBeGreaterThan(failed);
  });

  it.each([201, 202, 203])("random transactions of Amsterdam, of seed %i", async (seed) => {
    const { succeeded, failed } = await compareBlocks(TRANSACTIONS / SEEDS, seed, "amsterdam");
    expect(succeeded).toBeGreaterThan(failed);
  });

  it.each(EXECUTION_FORKS)("random programs of %s", async (fork) => {
    const machines = await openMachines(fork);
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      await compareInterpreters(
        machines,
        randomProgram(10_000 + seed, { isAmsterdam: fork === "amsterdam" }),
        `program ${seed}`,
      );
    }
  });
});
