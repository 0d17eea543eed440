import { it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { RandomChoices } from "../support/random/random-choices.ts";
import { ModelledChain } from "./modelled-chain.ts";

const STEPS = Number(process.env.FANAL_TEST_STEPS ?? 160);
const SEED = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31);
const STEPS_OF_RUN = 80;

it("real chains have the specification's head and checkpoints after every step", {
  timeout: 60_000 + 500 * STEPS,
}, async () => {
  console.info(`The histories of this run are those of FANAL_TEST_SEED=${SEED}.`);
  for (let run = 0; run * STEPS_OF_RUN < STEPS; run++) {
    const seed = SEED + run;
    const forks = seed % 2 === 0 ? [] : [{ fork: "fulu" as const, epoch: 0 }];
    const modelled = await ModelledChain.open(tempDirectory(), { forks }, new RandomChoices(seed));
    try {
      for (let step = 0; step < STEPS_OF_RUN; step++) await modelled.step();
    } catch (error) {
      const again = `FANAL_TEST_SEED=${seed} FANAL_TEST_STEPS=${STEPS_OF_RUN}`;
      throw new Error(`${again} comes here again:\n${modelled.story.join("\n")}\n${String(error)}`, { cause: error });
    }
    await modelled.close();
  }
});
