import { it } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { survivesCrashes, survivesFullDisks } from "../support/storage-faults.ts";

// test/program/crash.full.ts has more of both.
const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);

it("kill -9 at a random moment under block load loses nothing that was acknowledged", async () => {
  console.info(`The crash of this run is that of FANAL_TEST_SEED=${seed}.`);
  await survivesCrashes(1, seededRandom(seed));
}, 300_000);

it("a full disk ends the program with its own exit code and loses nothing that was acknowledged", async () => {
  console.info(`The full disk of this run is that of FANAL_TEST_SEED=${seed}.`);
  await survivesFullDisks(1, seededRandom(seed));
}, 300_000);
