import { ssz } from "@lodestar/types";
import { expect, test } from "vitest";
import { serializeSidecar } from "../../data/sidecar.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { checkChain } from "./check-chain.ts";
import {
  blockOn,
  config,
  finalizedAndHot,
  type LinkedBlock,
  openEmptyDatabase,
  storeChain,
  write,
} from "./linked-blocks.test-support.ts";
import { mendChain } from "./mend-chain.ts";

const { finalized, hot, genesis, first, second, last, child, tip } = finalizedAndHot();
const stray = blockOn(genesis, 2, 1);

const sidecarOf = ({ header }: LinkedBlock, index: number) =>
  serializeSidecar({
    ...ssz.deneb.BlobSidecar.defaultValue(),
    index,
    signedBlockHeader: { message: header, signature: new Uint8Array(96) },
  });

/** A whole chain with states of its first and its last finalized block. */
async function openChain(): Promise<BeaconDb> {
  const db = await openEmptyDatabase();
  await storeChain(db, { finalized, hot });
  await write(db, (batch) => batch.snapshots.put(genesis.slot, genesis.root, genesis.state));
  return db;
}

const problemsOf = async (db: BeaconDb) => (await checkChain({ config, db, onProgress: () => {} })).problems;

const heldRoots = async (db: BeaconDb) => new Set((await Array.fromAsync(db.blocks.entries())).map(({ root }) => root));

const rootsOf = (blocks: readonly LinkedBlock[]) => new Set(blocks.map(({ root }) => root));

test("counted votes are forgotten, and data is looked for anew", async () => {
  const db = await openChain();
  await write(db, (batch) => {
    batch.meta.putVotes(Uint8Array.of(1));
    batch.meta.putHeldData({ from: 3, groups: 8 });
  });
  await mendChain({ config, db });
  expect(await db.meta.getVotes()).toBeNull();
  expect(await db.meta.getHeldData()).toEqual({ from: 0, groups: 0 });
});

test("a whole chain stays what it is", async () => {
  const db = await openChain();
  expect(await mendChain({ config, db })).toEqual({
    firstSlot: 0,
    finalizedSlot: 4,
    newestSlot: 6,
    blocks: 6,
    states: 2,
    dropped: [],
  });
  expect(await heldRoots(db)).toEqual(rootsOf([...finalized, ...hot]));
  expect(await problemsOf(db)).toEqual([]);
});

test("blocks on no chain that is kept are deleted with their sidecars", async () => {
  const db = await openChain();
  await write(db, (batch) => {
    batch.blocks.put(stray.root, stray.bytes);
    batch.data.put(stray, 0, sidecarOf(stray, 0));
    batch.data.put(child, 0, sidecarOf(child, 0));
  });
  await mendChain({ config, db });
  expect(await heldRoots(db)).toEqual(rootsOf([...finalized, ...hot]));
  expect(await Array.fromAsync(db.data.sidecars())).toEqual([{ root: child.root, index: 0 }]);
  expect(await Array.fromAsync(db.data.blocks())).toEqual([{ slot: child.slot, root: child.root }]);
  expect(await problemsOf(db)).toEqual([]);
});

test("a damaged sidecar is dropped, and a block whose sidecars were not listed is listed", async () => {
  const db = await openChain();
  await write(db, (batch) => {
    batch.data.put(child, 0, sidecarOf(child, 1));
    batch.data.put(tip, 2, sidecarOf(tip, 2));
  });
  await write(db, (batch) => batch.data.delete(tip, []));
  const mended = await mendChain({ config, db });
  expect(mended?.dropped).toEqual([
    `In the place of sidecar 0 of the block ${child.root} is sidecar 1 of the block ${child.root}.`,
  ]);
  expect(await Array.fromAsync(db.data.sidecars())).toEqual([{ root: tip.root, index: 2 }]);
  expect(await Array.fromAsync(db.data.blocks())).toContainEqual({ slot: tip.slot, root: tip.root });
  expect(await problemsOf(db)).toEqual([]);
});

test("a gap in the finalized chain is where the mended chain begins, at the next state", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.blocks.delete(second.root));
  expect(await mendChain({ config, db })).toMatchObject({ firstSlot: 4, finalizedSlot: 4, newestSlot: 6, blocks: 3 });
  expect(await heldRoots(db)).toEqual(rootsOf([last, ...hot]));
  expect((await Array.fromAsync(db.snapshots.keys())).map(({ slot }) => slot)).toEqual([4]);
  expect(await problemsOf(db)).toEqual([]);
});

test("without the newest finalized state, what comes after the one before is no longer final", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.snapshots.put(last.slot, last.root, first.state));
  const mended = await mendChain({ config, db });
  expect(mended).toMatchObject({ firstSlot: 0, finalizedSlot: 0, newestSlot: 6, blocks: 6, states: 1 });
  expect(mended?.dropped).toEqual([`The state of slot 4 does not fit the block ${last.root}.`]);
  expect(await db.meta.getFinalized()).toEqual({ epoch: 0, root: genesis.root });
  expect((await Array.fromAsync(db.hotBlocks.entries())).map(({ slot }) => slot)).toEqual([1, 2, 4, 5, 6]);
  expect(await problemsOf(db)).toEqual([]);
});

test("a stored state of a block that is not final makes nothing final", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.snapshots.put(tip.slot, tip.root, tip.state));
  expect(await mendChain({ config, db })).toMatchObject({ finalizedSlot: 4, newestSlot: 6, blocks: 6, states: 2 });
  expect(await db.meta.getFinalized()).toEqual({ epoch: 0, root: last.root });
});

test("without any finalized state there is nothing to begin with", async () => {
  const db = await openEmptyDatabase();
  await write(db, (batch) => batch.blocks.put(genesis.root, genesis.bytes));
  expect(await mendChain({ config, db })).toBeNull();
});
