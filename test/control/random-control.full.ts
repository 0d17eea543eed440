import { describe, it } from "vitest";
import { runScenario } from "./random/run-scenario.ts";

const { FANAL_TEST_SEED, FANAL_TEST_STEPS } = process.env;

/**
 * Each has another kind of chain: the program, the library, and the library with forks on the way. Those of odd seeds
 * get to gloas.
 */
const SEEDS = [3, 4, 5, 6, 7, 8];
const STEPS = Number(FANAL_TEST_STEPS ?? 300);

/** One seed, or a range such as 6-20. */
function seedsOf(text: string): number[] {
  const [first = 0, last = first] = text.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe("random control keeps the chain consistent", () => {
  for (const seed of FANAL_TEST_SEED === undefined ? SEEDS : seedsOf(FANAL_TEST_SEED)) {
    it(`seed ${seed}, ${STEPS} steps`, { timeout: 1_200_000 }, () => runScenario(seed, STEPS));
  }
});
