import { describe, expect, it } from "vitest";
import { playHistories, RARE_HAPPENINGS } from "../../../test/support/chain/fork-choice/model-histories.ts";

/** Without a number, batches of histories follow each other until the hard cases were reached. */
const HISTORIES = Number(process.env.FANAL_TEST_HISTORIES ?? 0);
const BATCH = 6;
const MAX_BATCHES = 10;
const STEPS = Number(process.env.FANAL_TEST_STEPS ?? 500);
const SEED = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31);
const TIMEOUT_MS = 60_000 + 5 * Math.max(HISTORIES, BATCH * MAX_BATCHES) * STEPS;

describe("head with payload status, weights and checkpoints match the specification after every step", () => {
  it("of long histories with finality", { timeout: TIMEOUT_MS }, () => {
    console.info(`The histories of this run are those of FANAL_TEST_SEED=${SEED}.`);
    if (HISTORIES > 0) {
      playHistories({ seed: SEED, histories: HISTORIES, steps: STEPS });
      return;
    }
    // The comparison is meaningful only if the hard cases were reached. The full tier checks the rare ones too.
    const reached = new Set<string>(RARE_HAPPENINGS);
    let missing: string[] = [];
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const happenings = playHistories({ seed: SEED + batch * BATCH, histories: BATCH, steps: STEPS });
      for (const [what, times] of Object.entries(happenings)) if (times > 0) reached.add(what);
      missing = Object.keys(happenings).filter((what) => !reached.has(what));
      if (missing.length === 0) break;
    }
    expect(missing).toEqual([]);
  });

  it("of short histories", () => {
    playHistories({ seed: SEED, histories: HISTORIES > 0 ? 0 : 100, steps: 40 });
  });
});
