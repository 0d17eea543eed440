import { it } from "vitest";
import { survivesCrashes, survivesFullDisks } from "../support/db/storage-faults.ts";
import { seededRandom } from "../support/random/seeded-random.ts";

const CRASHES = 8;
const FULL_DISKS = 4;

const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);

it("repeated kill -9 at random moments loses nothing that was acknowledged", async () => {
  console.info(`The crashes of this run are those of FANAL_TEST_SEED=${seed}.`);
  await survivesCrashes(CRASHES, seededRandom(seed));
});

it("repeatedly full disks lose nothing that was acknowledged", async () => {
  console.info(`The full disks of this run are those of FANAL_TEST_SEED=${seed}.`);
  await survivesFullDisks(FULL_DISKS, seededRandom(seed));
});
