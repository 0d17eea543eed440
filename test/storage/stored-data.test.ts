import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { checkChain } from "../../src/chain/stored/check-chain.ts";
import { exportChain } from "../../src/chain/stored/export-chain.ts";
import { importChain } from "../../src/chain/stored/import-chain.ts";
import { repairChain } from "../../src/chain/stored/repair-chain.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { Bucket } from "../../src/db/keys.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { BlobBlocks, type BlockWithCommitments } from "../support/chain/blob-blocks.ts";
import { type OpenedDevChain, openQuietDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

let opened: OpenedDevChain;
let block: BlockWithCommitments;

/** A chain whose newest block has the sidecars of two blobs. */
beforeEach(async () => {
  opened = await openQuietDevChain(1, { forks: [{ fork: "electra", epoch: 0 }] });
  const { chain, clock } = opened.devChain;
  await clock.advanceTo(2);
  block = await new BlobBlocks(opened.devChain).make({ slot: 2, parentRoot: chain.head.root });
  chain.data.pool.add(block, block.sidecars);
  await chain.importBlock(block.signed);
});

async function check(db: BeaconDb) {
  const { sidecars, problems } = await checkChain({ config: opened.devChain.config, db, onProgress: () => {} });
  return { sidecars, problems };
}

async function openCopy(): Promise<BeaconDb> {
  const db = await openDatabase(tempDirectory(), { sync: false });
  onTestFinished(() => db.close());
  return db;
}

it("a dump has blobs, and an export has none", async () => {
  const { db, devChain } = opened;
  expect(await check(db)).toEqual({ sidecars: 2, problems: [] });
  for (const isWhole of [true, false]) {
    const file = join(tempDirectory(), "chain");
    await exportChain(db, file, { isWhole });
    const copy = await openCopy();
    await importChain(file, { config: devChain.config, db: copy, onProgress: () => {} });
    expect(await check(copy)).toEqual({ sidecars: isWhole ? 2 : 0, problems: [] });
    expect(await copy.data.get(block.root, 1)).toEqual(isWhole ? await db.data.get(block.root, 1) : null);
    expect(await Array.fromAsync(copy.data.blocks())).toEqual(isWhole ? [{ slot: 2, root: block.root }] : []);
  }
});

it("a damaged blob is never returned, found by a check, and dropped by a repair, like orphaned ones", async () => {
  const { db, devChain } = opened;
  const { chain, config } = devChain;
  const damaging = db.batch();
  const [first] = await Array.fromAsync(db.chainEntries([Bucket.dataSidecars]));
  damaging.putRaw({ ...first!, value: first!.value.with(70_000, 1) });
  damaging.putRaw({ ...first!, key: first!.key.map((byte) => byte ^ 1) });
  await damaging.write();
  await expect(chain.data.sidecars(block)).rejects.toThrow("sidecar 0 of block");
  await expect(chain.data.sidecarBytes(block.root, 0)).rejects.toThrow("does not match its checksum");
  expect(await chain.data.sidecars(block, [1])).toHaveLength(1);

  const { sidecars, problems } = await check(db);
  expect(sidecars).toBe(3);
  expect(problems).toEqual(
    expect.arrayContaining([
      expect.stringContaining(`Sidecar 0 of block ${block.root} does not match its checksum`),
      expect.stringContaining("is not in the index of blocks with sidecars"),
    ]),
  );
  await chain.close();
  const mended = await repairChain({ config, db });
  expect(mended?.dropped).toHaveLength(2);
  expect(await check(db)).toEqual({ sidecars: 1, problems: [] });
  expect(await db.data.indices(block.root)).toEqual([1]);
});
