import { describe, expect, it } from "vitest";
import { playHistories, RARE_HAPPENINGS } from "../../../test/support/chain/fork-choice/model-histories.ts";

const HISTORIES = Number(process.env.FANAL_TEST_HISTORIES ?? 20);
const STEPS = Number(process.env.FANAL_TEST_STEPS ?? 500);
const SEED = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31);
const TIMEOUT_MS = 60_000 + 5 * HISTORIES * STEPS;

describe("head with payload status, weights and checkpoints match the specification after every step", () => {
  it("of long histories with finality", { timeout: TIMEOUT_MS }, () => {
    console.info(`The histories of this run are those of FANAL_TEST_SEED=${SEED}.`);
    const happenings = playHistories({ seed: SEED, histories: HISTORIES, steps: STEPS });
    // The comparison is meaningful only if the hard cases were reached. The full tier checks the rare ones too.
    if (HISTORIES * STEPS < 10_000) return;
    for (const [what, times] of Object.entries(happenings)) {
      if (!RARE_HAPPENINGS.has(what)) expect(times, what).toBeGreaterThan(0);
    }
  });

  it("of short histories", () => {
    playHistories({ seed: SEED, histories: process.env.FANAL_TEST_HISTORIES ? 0 : 250, steps: 40 });
  });
});
