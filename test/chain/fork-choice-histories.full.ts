import { expect, it } from "vitest";
import { playHistories } from "../support/chain/fork-choice/model-histories.ts";

const SEED = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31);

it("1,000 random histories have the specification's heads, before, across and after the fork to gloas", () => {
  console.info(`The histories of this run are those of FANAL_TEST_SEED=${SEED}.`);
  const happenings = playHistories({ seed: SEED, histories: 1000, steps: 200 });
  for (const [what, times] of Object.entries(happenings)) expect(times, what).toBeGreaterThan(0);
}, 900_000);
