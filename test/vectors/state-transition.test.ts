import { describe, it } from "vitest";
import { runBlocks, runSlots } from "../support/vectors/state/blocks.ts";
import { runEpochStep } from "../support/vectors/state/epoch-processing.ts";
import { runOperation } from "../support/vectors/state/operations.ts";
import { runUpgrade } from "../support/vectors/state/upgrades.ts";
import type { VectorCase } from "../support/vectors/vector-case.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

type Run = (vector: VectorCase) => void | Promise<void>;

const RUNNERS: [fork: string, runner: string, run: Run][] = [
  ["fulu", "sanity", (vector) => (vector.path.handler === "slots" ? runSlots : runBlocks)(vector)],
  ["fulu", "finality", runBlocks],
  ["gloas", "operations", runOperation],
  ["gloas", "epoch_processing", runEpochStep],
  ["gloas", "fork", runUpgrade],
  ["gloas", "sanity", (vector) => (vector.path.handler === "slots" ? runSlots : runBlocks)(vector)],
  ["gloas", "finality", runBlocks],
  ["gloas", "random", runBlocks],
  ["gloas", "transition", runBlocks],
];

describe.each(RUNNERS)("%s %s", (fork, runner, run) => {
  it.each(vectorCases(fork, runner).map((vector) => [vector.id, vector] as const))("%s", (_, vector) => run(vector));
});
