import type { RootHex, Slot } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import { BlobBlocks } from "../../../test/support/chain/blob-blocks.ts";
import { openDevChain, QUIET } from "../../../test/support/chain/dev-chain.ts";
import { collect } from "../../../test/support/db/collect.ts";
import { type DataSidecar, serializeSidecar } from "../../data/sidecar.ts";
import { ResourceUnavailable } from "./errors.ts";
import { SidecarReader } from "./sidecar-reader.ts";
import { BLOB_SIDECARS, COLUMN_SIDECARS } from "./sidecar-responses.ts";

const FIRST_FULU_SLOT = 8;
const LAST_SLOT = 10;

/**
 * Opens a chain of electra and fulu blocks that have data except in every third slot, and one block that is waiting for
 * its data.
 */
async function openWithData() {
  const forks = [
    { fork: "electra" as const, epoch: 0 },
    { fork: "fulu" as const, epoch: 1 },
  ];
  const { devChain, db } = await openDevChain({ ...QUIET, forks });
  const { chain, clock, config } = devChain;
  const making = new BlobBlocks(devChain);
  const data = new Map<Slot, { root: RootHex; sidecars: DataSidecar[] }>();
  for (let slot = 1; slot <= LAST_SLOT; slot++) {
    await clock.advanceTo(slot);
    const blobs = slot % 3 === 0 ? 0 : 2;
    const { root, signed, sidecars } = await making.make({ slot, parentRoot: chain.head.root, blobs });
    if (blobs > 0) {
      chain.data.pool.add({ slot, root }, sidecars);
      data.set(slot, { root, sidecars });
    }
    await chain.importBlock(signed);
  }
  const history = { earliestBlockSlot: 0, earliestAvailableSlot: 0 };
  const reader = new SidecarReader({ chain, db, history });
  const digestAt = (slot: Slot) =>
    toHex(config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(slot < FIRST_FULU_SLOT ? 0 : 1)));
  /** Returns the expected response. */
  const chunks = (slot: Slot, indices?: readonly number[]) =>
    data
      .get(slot)!
      .sidecars.filter(({ index }) => indices?.includes(index) ?? true)
      .map((sidecar) => `${digestAt(slot)} ${toHex(serializeSidecar(sidecar)).slice(0, 2000)}`);
  const served = async (response: ReturnType<SidecarReader["byRange"]>) =>
    (await collect(response)).map(({ bytes, forkDigest }) => `${toHex(forkDigest)} ${toHex(bytes).slice(0, 2000)}`);
  const rootAt = (slot: Slot) => data.get(slot)!.root;
  /** Drops the sidecars in some slots. By default drops all of their indices. */
  const drop = async (slots: readonly Slot[], indices?: readonly number[]) => {
    const batch = db.batch();
    for (const slot of slots) {
      const { root, sidecars } = data.get(slot)!;
      for (const { index } of sidecars) if (indices?.includes(index) ?? true) batch.data.deleteSidecar(root, index);
    }
    await batch.write();
  };
  return { chain, making, reader, history, chunks, served, rootAt, drop };
}

it("stored sidecars of the requested kind are served by range and by root", async () => {
  const { chain, making, reader, chunks, served, rootAt } = await openWithData();
  const all = { startSlot: 0, count: 100 };
  expect(await served(reader.byRange(BLOB_SIDECARS, all))).toEqual([1, 2, 4, 5, 7].flatMap((slot) => chunks(slot)));
  expect(await served(reader.byRange(BLOB_SIDECARS, { startSlot: 2, count: 2 }))).toEqual(chunks(2));
  expect(await served(reader.byRange(BLOB_SIDECARS, { startSlot: 3, count: 1 }))).toEqual([]);
  expect(await served(reader.byRange(BLOB_SIDECARS, { startSlot: FIRST_FULU_SLOT, count: 9 }))).toEqual([]);

  const columns = [127, 3];
  const columnsOf = (slot: Slot) => chunks(slot, columns);
  expect(await served(reader.byRange(COLUMN_SIDECARS, all, columns))).toEqual([...columnsOf(8), ...columnsOf(10)]);
  expect(await served(reader.byRange(COLUMN_SIDECARS, { startSlot: 1, count: 7 }, columns))).toEqual([]);

  const unknown = { root: `0x${"ab".repeat(32)}`, indices: [0] };
  const wanted = [{ root: rootAt(10), indices: [5] }, unknown, { root: rootAt(2), indices: [1] }];
  expect(await served(reader.byRoot(COLUMN_SIDECARS, wanted))).toEqual(chunks(10, [5]));
  expect(await served(reader.byRoot(BLOB_SIDECARS, wanted))).toEqual(chunks(2, [1]));

  // No other identifiers cause a database read, and duplicates are served only once.
  const reads = vi.spyOn(chain.data, "sidecarBytes");
  const odd = [5, 5, 65536 + 5, Number.POSITIVE_INFINITY, ...Array.from({ length: 100 }, (_, index) => 128 + index)];
  expect(await served(reader.byRoot(COLUMN_SIDECARS, [{ root: rootAt(10), indices: odd }]))).toEqual(chunks(10, [5]));
  expect(reads).toHaveBeenCalledTimes(1);
  reads.mockRestore();

  const waiting = await making.make({ slot: LAST_SLOT, parentRoot: rootAt(8), mark: 7 });
  chain.data.pool.add(waiting, waiting.sidecars.slice(0, 4));
  const ofWaiting = await collect(reader.byRoot(COLUMN_SIDECARS, [{ root: waiting.root, indices: [3, 4] }]));
  expect(ofWaiting.map(({ bytes }) => Buffer.from(bytes))).toEqual([
    Buffer.from(serializeSidecar(waiting.sidecars[3]!)),
  ]);
  expect(await served(reader.byRange(COLUMN_SIDECARS, { startSlot: LAST_SLOT, count: 1 }, [3]))).toEqual(
    chunks(10, [3]),
  );
});

it("a range is unavailable if its first data is missing, but not if blocks have no data", async () => {
  const { reader, history, chunks, served, drop } = await openWithData();
  const blobs = (startSlot: Slot) => served(reader.byRange(BLOB_SIDECARS, { startSlot, count: 100 }));
  await drop([1, 2]);
  history.earliestAvailableSlot = 4;
  await expect(blobs(1)).rejects.toThrow(ResourceUnavailable);
  await expect(blobs(2)).rejects.toThrow(ResourceUnavailable);
  expect(await blobs(3)).toEqual([4, 5, 7].flatMap((slot) => chunks(slot)));
  expect(await served(reader.byRange(COLUMN_SIDECARS, { startSlot: 1, count: 100 }, [0]))).not.toEqual([]);
  history.earliestBlockSlot = 4;
  await expect(blobs(3)).rejects.toThrow(ResourceUnavailable);
  history.earliestBlockSlot = 0;
});

it("a range that starts before the availability window is clipped", async () => {
  const { chain, reader, chunks, served } = await openWithData();
  let firstKept = 5;
  const spy = vi.spyOn(chain.data, "isWithinWindow").mockImplementation((slot) => slot >= firstKept);
  onTestFinished(() => spy.mockRestore());
  const all = { startSlot: 1, count: 100 };
  expect(await served(reader.byRange(BLOB_SIDECARS, all))).toEqual([...chunks(5), ...chunks(7)]);
  await expect(served(reader.byRange(BLOB_SIDECARS, { startSlot: 1, count: 4 }))).rejects.toThrow(ResourceUnavailable);
  firstKept = LAST_SLOT;
  expect(await served(reader.byRange(COLUMN_SIDECARS, all, [3]))).toEqual(chunks(LAST_SLOT, [3]));
  await expect(served(reader.byRange(BLOB_SIDECARS, all))).rejects.toThrow(ResourceUnavailable);
  expect(await served(reader.byRange(BLOB_SIDECARS, { startSlot: FIRST_FULU_SLOT, count: 100 }))).toEqual([]);
});

it("available columns are served even if others are missing", async () => {
  const { reader, history, chunks, served, drop } = await openWithData();
  const all = { startSlot: 1, count: 100 };
  const columns = (wanted: number[]) => served(reader.byRange(COLUMN_SIDECARS, all, wanted));
  // Simulates a custody increase, after which only the previous columns are available.
  history.earliestAvailableSlot = LAST_SLOT;
  await drop([8, 10], [5, 6]);
  expect(await served(reader.byRange(BLOB_SIDECARS, all))).toEqual([1, 2, 4, 5, 7].flatMap((slot) => chunks(slot)));
  expect(await columns([3, 4])).toEqual([8, 10].flatMap((slot) => chunks(slot, [3, 4])));
  expect(await columns([4, 5])).toEqual([8, 10].flatMap((slot) => chunks(slot, [4])));
  await expect(columns([5, 6])).rejects.toThrow(ResourceUnavailable);
  await drop([10], [3]);
  expect(await columns([3])).toEqual(chunks(8, [3]));
});
