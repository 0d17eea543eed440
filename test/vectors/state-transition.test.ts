import { describe, expect, it } from "vitest";
import { sampleOf, titled } from "../support/vectors/sample.ts";
import { runBlocks, runSlots } from "../support/vectors/state/blocks.ts";
import { runEpochStep } from "../support/vectors/state/epoch-processing.ts";
import { knownDifference } from "../support/vectors/state/known-differences.ts";
import { runOperation } from "../support/vectors/state/operations.ts";
import { runUpgrade } from "../support/vectors/state/upgrades.ts";
import type { VectorCase } from "../support/vectors/vector-case.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

type Run = (vector: VectorCase) => void | Promise<void>;

const runSanity: Run = (vector) => (vector.path.handler === "slots" ? runSlots : runBlocks)(vector);

/** In npm test, every n-th case of a handler is run. */
const RUNNERS: [fork: string, runner: string, run: Run, every: number][] = [
  ["fulu", "sanity", runSanity, 17],
  ["fulu", "finality", runBlocks, 5],
  ["gloas", "operations", runOperation, 11],
  ["gloas", "epoch_processing", runEpochStep, 9],
  ["gloas", "fork", runUpgrade, 11],
  ["gloas", "sanity", runSanity, 18],
  ["gloas", "finality", runBlocks, 5],
  ["gloas", "random", runBlocks, 16],
  ["gloas", "transition", runBlocks, 9],
];

describe.each(RUNNERS)("%s %s", (fork, runner, run, every) => {
  const vectors = vectorCases(fork, runner);
  const differing = vectors.filter((vector) => knownDifference(vector) !== undefined);
  const ids = differing.map(({ id }) => id);

  it.each(titled(sampleOf(vectors, every).filter(({ id }) => !ids.includes(id))))("%s", (_, vector) => run(vector));

  it.each(titled(differing))("%s: a known difference", async (_, vector) => {
    await expect((async () => run(vector))()).rejects.toThrow(knownDifference(vector)!.failure);
  });
});
