import { ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import {
  blockOn,
  config,
  finalizedAndHot,
  type LinkedBlock,
  storeChain,
  write,
} from "../../../test/support/chain/stored/linked-blocks.ts";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { serializeSidecar } from "../../data/sidecar.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { checkChain } from "./check-chain.ts";
import { repairChain } from "./repair-chain.ts";

const { finalized, hot, genesis, first, second, last, child, tip } = finalizedAndHot();
const stray = blockOn(genesis, 2, 1);

const sidecarOf = ({ header }: LinkedBlock, index: number) =>
  serializeSidecar({
    ...ssz.deneb.BlobSidecar.defaultValue(),
    index,
    signedBlockHeader: { message: header, signature: new Uint8Array(96) },
  });

/** An intact chain with the states of its first and last finalized blocks. */
async function openChain(): Promise<BeaconDb> {
  const db = await openEmptyDatabase();
  await storeChain(db, { finalized, hot });
  await write(db, (batch) => batch.snapshots.put(genesis.slot, genesis.root, genesis.state));
  return db;
}

const problemsOf = async (db: BeaconDb) => (await checkChain({ config, db, onProgress: () => {} })).problems;

const heldRoots = async (db: BeaconDb) => new Set((await Array.fromAsync(db.blocks.entries())).map(({ root }) => root));

const rootsOf = (blocks: readonly LinkedBlock[]) => new Set(blocks.map(({ root }) => root));

it("drops counted votes and resets data completeness", async () => {
  const db = await openChain();
  await write(db, (batch) => {
    batch.meta.putVotes(Uint8Array.of(1));
    batch.meta.putHeldData({ from: 3, groups: 8 });
  });
  await repairChain({ config, db });
  expect(await db.meta.getVotes()).toBeNull();
  expect(await db.meta.getHeldData()).toEqual({ from: 0, groups: 0 });
});

it("does not change an intact chain", async () => {
  const db = await openChain();
  expect(await repairChain({ config, db })).toEqual({
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

it("deletes blocks off the remaining chain with their sidecars", async () => {
  const db = await openChain();
  await write(db, (batch) => {
    batch.blocks.put(stray.root, stray.bytes);
    batch.data.put(stray, 0, sidecarOf(stray, 0));
    batch.data.put(child, 0, sidecarOf(child, 0));
  });
  await repairChain({ config, db });
  expect(await heldRoots(db)).toEqual(rootsOf([...finalized, ...hot]));
  expect(await Array.fromAsync(db.data.sidecars())).toEqual([{ root: child.root, index: 0 }]);
  expect(await Array.fromAsync(db.data.blocks())).toEqual([{ slot: child.slot, root: child.root }]);
  expect(await problemsOf(db)).toEqual([]);
});

it("drops a damaged sidecar and indexes a block with unlisted sidecars", async () => {
  const db = await openChain();
  await write(db, (batch) => {
    batch.data.put(child, 0, sidecarOf(child, 1));
    batch.data.put(tip, 2, sidecarOf(tip, 2));
  });
  await write(db, (batch) => batch.data.delete(tip, []));
  const mended = await repairChain({ config, db });
  expect(mended?.dropped).toEqual([`Sidecar 0 of block ${child.root} is stored as sidecar 1 of block ${child.root}.`]);
  expect(await Array.fromAsync(db.data.sidecars())).toEqual([{ root: tip.root, index: 2 }]);
  expect(await Array.fromAsync(db.data.blocks())).toContainEqual({ slot: tip.slot, root: tip.root });
  expect(await problemsOf(db)).toEqual([]);
});

it("starts the repaired chain after a gap in the finalized chain, at the next state", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.blocks.delete(second.root));
  expect(await repairChain({ config, db })).toMatchObject({ firstSlot: 4, finalizedSlot: 4, newestSlot: 6, blocks: 3 });
  expect(await heldRoots(db)).toEqual(rootsOf([last, ...hot]));
  expect((await Array.fromAsync(db.snapshots.keys())).map(({ slot }) => slot)).toEqual([4]);
  expect(await problemsOf(db)).toEqual([]);
});

it("without the newest finalized state, later blocks are no longer finalized", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.snapshots.put(last.slot, last.root, first.state));
  const mended = await repairChain({ config, db });
  expect(mended).toMatchObject({ firstSlot: 0, finalizedSlot: 0, newestSlot: 6, blocks: 6, states: 1 });
  expect(mended?.dropped).toEqual([`The state of slot 4 does not match block ${last.root}.`]);
  expect(await db.meta.getFinalized()).toEqual({ epoch: 0, root: genesis.root });
  expect((await Array.fromAsync(db.hotBlocks.entries())).map(({ slot }) => slot)).toEqual([1, 2, 4, 5, 6]);
  expect(await problemsOf(db)).toEqual([]);
});

it("a stored state of an unfinalized block finalizes nothing", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.snapshots.put(tip.slot, tip.root, tip.state));
  expect(await repairChain({ config, db })).toMatchObject({ finalizedSlot: 4, newestSlot: 6, blocks: 6, states: 2 });
  expect(await db.meta.getFinalized()).toEqual({ epoch: 0, root: last.root });
});

it("cuts a chain off before a slot, and takes the newest finalized state before it as final", async () => {
  const db = await openChain();
  await write(db, (batch) => batch.blocks.put(stray.root, stray.bytes));
  expect(await repairChain({ config, db, before: 4 })).toMatchObject({
    firstSlot: 0,
    finalizedSlot: 0,
    newestSlot: 2,
    blocks: 4,
    states: 1,
  });
  expect(await heldRoots(db)).toEqual(rootsOf([genesis, first, second, stray]));
  expect(await db.meta.getFinalized()).toEqual({ epoch: 0, root: genesis.root });
  expect(await problemsOf(db)).toEqual([]);
  expect(await repairChain({ config, db, before: 0 })).toBeNull();
});

it("returns null without a finalized state", async () => {
  const db = await openEmptyDatabase();
  await write(db, (batch) => batch.blocks.put(genesis.root, genesis.bytes));
  expect(await repairChain({ config, db })).toBeNull();
});

it("reports and drops payloads that are damaged or belong to blocks that are dropped", async () => {
  const db = await openChain();
  const envelopeOf = ({ root, slot }: LinkedBlock) => {
    const signed = ssz.gloas.SignedExecutionPayloadEnvelope.defaultValue();
    signed.message.beaconBlockRoot = fromHex(root);
    signed.message.payload.slotNumber = slot;
    return ssz.gloas.SignedExecutionPayloadEnvelope.serialize(signed);
  };
  await write(db, (batch) => {
    batch.payloads.put(tip.root, envelopeOf(tip));
    batch.payloads.put(child.root, envelopeOf(tip));
    batch.payloads.put(stray.root, envelopeOf(stray));
  });
  const damage = `The payload stored for block ${child.root} is that of block ${tip.root}.`;
  const problems = await problemsOf(db);
  expect(problems).toHaveLength(2);
  expect(problems).toEqual(
    expect.arrayContaining([damage, `Block ${stray.root} of slot ${stray.slot} is missing, but has a payload.`]),
  );
  expect((await repairChain({ config, db }))?.dropped).toEqual([damage]);
  expect(await Array.fromAsync(db.payloads.roots())).toEqual([tip.root]);
  expect(await problemsOf(db)).toEqual([]);
});
