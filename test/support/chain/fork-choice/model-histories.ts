import { seededRandom } from "../../random/seeded-random.ts";
import { type Happenings, noHappenings } from "./happenings.ts";
import { ModelRun } from "./model-run.ts";

/** First epochs of gloas: from genesis, within the history, and never. */
const GLOAS_EPOCHS = [0, 1, 2, 4, Number.POSITIVE_INFINITY];

/** Not expected in a few histories. */
export const RARE_HAPPENINGS: ReadonlySet<string> = new Set<keyof Happenings>([
  "dropped",
  "headsByTick",
  "refusedBoosts",
]);

interface Histories {
  /** Seed of the first history; the others follow. */
  seed: number;
  histories: number;
  steps: number;
}

/** Steps of one history. */
function stepsOf(seed: number, count: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => Math.floor(random() * 2 ** 32));
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

function play(
  steps: number[],
  gloasEpoch: number,
  happenings = noHappenings(),
): { error: unknown; story: string[] } | null {
  const run = new ModelRun(happenings, gloasEpoch);
  try {
    for (const step of steps) run.step(step);
    return null;
  } catch (error) {
    return { error, story: run.story };
  }
}

/**
 * Compares fork choice with the specification on random histories before, across and after the fork to gloas. Throws
 * the shortest story of a difference. Returns what happened.
 */
export function playHistories({ seed, histories, steps: count }: Histories): Happenings {
  const happenings = noHappenings();
  for (let history = 0; history < histories; history++) {
    const gloasEpoch = GLOAS_EPOCHS[(seed + history) % GLOAS_EPOCHS.length]!;
    const steps = stepsOf(seed + history, count);
    if (play(steps, gloasEpoch, happenings) === null) continue;
    const { error, story } = play(
      shrink(steps, (fewer) => play(fewer, gloasEpoch) !== null),
      gloasEpoch,
    )!;
    const again = `FANAL_TEST_SEED=${seed + history} FANAL_TEST_HISTORIES=1 FANAL_TEST_STEPS=${count}`;
    throw new Error(
      `${again} comes here again, with gloas from epoch ${gloasEpoch}:\n${story.join("\n")}\n${String(error)}`,
      {
        cause: error,
      },
    );
  }
  return happenings;
}
