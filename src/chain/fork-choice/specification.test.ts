import { expect, it } from "vitest";
import { type Happenings, ModelRun } from "../../../test/support/chain/fork-choice/model-run.ts";
import { seededRandom } from "../../../test/support/random/seeded-random.ts";

const STEPS = Number(process.env.FANAL_TEST_STEPS ?? 10_000);
const SEED = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31);
const STEPS_OF_RUN = 500;

/** Steps of one run. */
function stepsOf(seed: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: STEPS_OF_RUN }, () => Math.floor(random() * 2 ** 32));
}

/** Removes as many steps as possible while the rest still fails. */
function shrink(steps: number[], fails: (steps: number[]) => boolean): number[] {
  let rest = steps;
  for (let size = steps.length >> 1; size > 0; size >>= 1) {
    for (let from = 0; from < rest.length; ) {
      const fewer = rest.toSpliced(from, size);
      if (fails(fewer)) rest = fewer;
      else from += size;
    }
  }
  return rest;
}

function play(steps: number[], happenings = noHappenings()): { error: unknown; story: string[] } | null {
  const run = new ModelRun(happenings);
  try {
    for (const step of steps) run.step(step);
    return null;
  } catch (error) {
    return { error, story: run.story };
  }
}

const noHappenings = (): Happenings => ({
  reorgs: 0,
  finalizations: 0,
  boosts: 0,
  prunings: 0,
  invalidBranchRoots: 0,
  refusedVotes: 0,
  restarts: 0,
  dropped: 0,
});

it("head and checkpoints match the specification after every step", { timeout: 60_000 + 5 * STEPS }, () => {
  console.info(`The histories of this run are those of FANAL_TEST_SEED=${SEED}.`);
  const happenings = noHappenings();
  for (let run = 0; run * STEPS_OF_RUN < STEPS; run++) {
    const steps = stepsOf(SEED + run);
    if (play(steps, happenings) === null) continue;
    const { error, story } = play(shrink(steps, (fewer) => play(fewer) !== null))!;
    const again = `FANAL_TEST_SEED=${SEED + run} FANAL_TEST_STEPS=${STEPS_OF_RUN}`;
    throw new Error(`${again} comes here again:\n${story.join("\n")}\n${String(error)}`, { cause: error });
  }
  // The comparison is meaningful only if the hard cases were reached.
  if (STEPS < 10_000) return;
  for (const [what, times] of Object.entries(happenings)) expect(times, what).toBeGreaterThan(0);
});
