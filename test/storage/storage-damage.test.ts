import { cpSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { DatabaseCorruptError } from "../../src/db/errors.ts";
import { makeHistory, openDevChain, QUIET, startDevChain } from "../support/chain/dev-chain.ts";
import { answersOf, damageOneFile, startDamaged } from "../support/db/damage.ts";
import { inDataDirectory } from "../support/directories/data-directory.ts";
import { type RemovableDirectory, removableDirectory } from "../support/directories/removable-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { seededRandom } from "../support/random/seeded-random.ts";

const DAMAGES = 10;

let stored: RemovableDirectory;
let whole: Awaited<ReturnType<typeof answersOf>>;

/** A chain whose start is in a table and whose end is in the log. */
beforeAll(async () => {
  stored = removableDirectory();
  for (const epochs of [4, 6]) await makeHistory(epochs * SLOTS_PER_EPOCH, {}, stored.path);
  const copy = removableDirectory();
  cpSync(stored.path, copy.path, { recursive: true });
  const { devChain, close } = await startDevChain(QUIET, copy.path);
  whole = await answersOf(devChain.chain);
  await close();
  copy.remove();
});
afterAll(() => stored.remove());

function copied(): string {
  const directory = tempDirectory();
  cpSync(stored.path, directory, { recursive: true });
  return directory;
}

it("after any damage, the start is rejected or all responses are correct", async () => {
  const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);
  console.info(`The damages of this run are those of FANAL_TEST_SEED=${seed}.`);
  const random = seededRandom(seed);
  for (let n = 0; n < DAMAGES; n++) {
    const directory = copied();
    const damage = damageOneFile(directory, random);
    await startDamaged(directory, whole).catch((error: unknown) => {
      throw new Error(`A start was not right after this: ${damage}.`, { cause: error });
    });
  }
});

it("a modified block or state is never returned", async () => {
  const directory = copied();
  const root = whole[9]!.root!;
  await inDataDirectory(directory, async (db) => {
    const bytes = (await db.blocks.get(root))!;
    // A byte of the graffiti, so that the block can still be decoded.
    bytes[4 + 96 + 84 + 96 + 72 + 5]! ^= 1;
    const [oldest] = await Array.fromAsync(db.snapshots.keys());
    const state = (await db.snapshots.get(oldest!.slot, oldest!.blockRoot))!;
    state[state.length - 100]! ^= 1;
    const batch = db.batch();
    batch.blocks.put(root, bytes);
    batch.snapshots.put(oldest!.slot, oldest!.blockRoot, state);
    await batch.write();
  });
  const { devChain } = await openDevChain(QUIET, directory);
  const { api, chain } = devChain;
  await expect(chain.blocks.byRoot(root)).rejects.toThrow(DatabaseCorruptError);
  await expect(api.beacon.getBlockV2({ blockId: 9 })).rejects.toThrow(/has root 0x/);
  await expect(api.beacon.getStateFork({ stateId: 3 })).rejects.toThrow(/does not match block/);
  expect((await chain.blocks.canonicalAtSlot(10))?.root).toBe(whole[10]!.root);
});

it("an inconsistent finalized chain is rejected at start", async () => {
  for (const change of ["hole", "swap", "end"] as const) {
    const directory = copied();
    await inDataDirectory(directory, async (db) => {
      const batch = db.batch();
      if (change === "hole") batch.finalizedBlocks.delete(7);
      if (change === "swap") batch.finalizedBlocks.put(7, whole[6]!.root!);
      if (change === "end") batch.blocks.delete((await db.meta.getFinalized())!.root);
      await batch.write();
    });
    expect(await startDamaged(directory, whole), change).toBe("refused");
  }
});

it("the database is accessible to its owner only, even in an existing directory", async () => {
  const parent = tempDirectory();
  const directory = join(parent, "made", "deep");
  const opened = await startDevChain(QUIET, directory);
  onTestFinished(opened.close);
  for (const path of [join(parent, "made"), directory, join(directory, "beacon-db")]) {
    expect(statSync(path).mode & 0o777, path).toBe(0o700);
  }
});

it("a database without CURRENT is unchanged", async () => {
  const directory = copied();
  const path = join(directory, "beacon-db");
  rmSync(join(path, "CURRENT"));
  const names = readdirSync(path);
  expect(await startDamaged(directory, whole)).toBe("refused");
  expect(readdirSync(path).sort()).toEqual([...new Set([...names, "LOG", "LOG.old"])].sort());
});
