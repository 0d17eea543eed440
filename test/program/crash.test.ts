import { it } from "vitest";
import { survivesCrashes } from "../support/db/storage-faults.ts";
import { seededRandom } from "../support/random/seeded-random.ts";

// test/program/crash.full.ts has more crashes, and full disks.
const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);

it("kill -9 at a random moment under block load loses nothing that was acknowledged", async () => {
  console.info(`The crash of this run is that of FANAL_TEST_SEED=${seed}.`);
  await survivesCrashes(1, seededRandom(seed));
}, 300_000);
