import { cpSync } from "node:fs";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { it, onTestFinished } from "vitest";
import { makeHistory, QUIET, startDevChain } from "../support/chain/dev-chain.ts";
import { answersOf, type DamageOutcome, damageOneFile, startDamaged } from "../support/db/damage.ts";
import { survivesCrashes, survivesFullDisks } from "../support/db/storage-faults.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { seededRandom } from "../support/random/seeded-random.ts";

/** Number of runs per fault. */
const CRASHES = Number(process.env.SOAK_CRASHES ?? 100);
const FULL_DISKS = Number(process.env.SOAK_FULL_DISKS ?? 20);
const DAMAGES = Number(process.env.SOAK_DAMAGES ?? 50);
const LONGEST_MS = 3_600_000;

const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);
console.info(`The faults of this run are those of FANAL_TEST_SEED=${seed}.`);

it(`${CRASHES} kills lose nothing that was acknowledged`, { timeout: LONGEST_MS }, async () => {
  await survivesCrashes(CRASHES, seededRandom(seed));
});

it(`${FULL_DISKS} full disks lose nothing that was acknowledged`, { timeout: LONGEST_MS }, async () => {
  await survivesFullDisks(FULL_DISKS, seededRandom(seed));
});

it(`${DAMAGES} damaged databases are rejected or return correct data`, { timeout: LONGEST_MS }, async () => {
  const random = seededRandom(seed);
  const stored = removableDirectory();
  onTestFinished(stored.remove);
  for (const epochs of [20, 30, 40]) await makeHistory(epochs * SLOTS_PER_EPOCH, {}, stored.path);
  const inCopy = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
    const copy = removableDirectory();
    try {
      cpSync(stored.path, copy.path, { recursive: true });
      return await work(copy.path);
    } finally {
      copy.remove();
    }
  };
  const whole = await inCopy(async (directory) => {
    const { devChain, close } = await startDevChain(QUIET, directory);
    const answers = await answersOf(devChain.chain);
    await close();
    return answers;
  });
  const outcomes: Record<DamageOutcome, number> = { refused: 0, shorter: 0, same: 0 };
  for (let n = 0; n < DAMAGES; n++) {
    await inCopy(async (directory) => {
      const damage = damageOneFile(directory, random);
      const outcome = await startDamaged(directory, whole).catch((error: unknown) => {
        throw new Error(`A start was not right after this: ${damage}.`, { cause: error });
      });
      outcomes[outcome]++;
    });
  }
  console.info(`Of ${DAMAGES} damages: ${JSON.stringify(outcomes)}`);
});
