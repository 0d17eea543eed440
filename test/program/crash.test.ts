import { test } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { survivesCrashes, survivesFullDisks } from "../support/storage-faults.ts";

const CRASHES = 5;
const FULL_DISKS = 2;

const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);

test("kill -9 at random moments under block load loses nothing that was answered", async () => {
  console.info(`The crashes of this run are those of FANAL_TEST_SEED=${seed}.`);
  await survivesCrashes(CRASHES, seededRandom(seed));
}, 300_000);

test("a disk that is full ends the program with its own exit code and loses nothing that was answered", async () => {
  console.info(`The full disks of this run are those of FANAL_TEST_SEED=${seed}.`);
  await survivesFullDisks(FULL_DISKS, seededRandom(seed));
}, 300_000);
