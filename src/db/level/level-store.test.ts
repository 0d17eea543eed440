import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { collect } from "../../../test/support/db/collect.ts";
import { type RemovableDirectory, removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseOpenError, DatabaseWriteError } from "../errors.ts";
import { LevelStore } from "./level-store.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

describe("LevelStore", () => {
  let dir: RemovableDirectory;
  let store: LevelStore;

  beforeEach(async () => {
    dir = removableDirectory();
    store = await LevelStore.open(dir.path, { sync: false });
  });

  afterEach(async () => {
    await store.close();
    dir.remove();
  });

  const put = async (...entries: [bucket: number, key: Uint8Array, value: Uint8Array][]) => {
    const batch = store.batch();
    for (const [bucket, key, value] of entries) batch.put(bucket, key, value);
    await batch.write();
  };

  it("reports its disk size", async () => {
    const before = await store.diskBytes();
    await put([1, bytes(1), new Uint8Array(100_000).fill(7)]);
    expect(await store.diskBytes()).toBeGreaterThan(before + 50_000);
  });

  it("isolates buckets, also in unbounded ranges", async () => {
    await put([1, bytes(255, 255), bytes(1)], [2, bytes(), bytes(2)], [2, bytes(0), bytes(3)], [3, bytes(0), bytes(4)]);
    expect(await collect(store.entries(2))).toEqual([
      [bytes(), bytes(2)],
      [bytes(0), bytes(3)],
    ]);
    expect(await collect(store.keys(1, { reverse: true }))).toEqual([bytes(255, 255)]);
    expect(await store.get(2, bytes(255, 255))).toBeNull();
    expect(await store.has(1, bytes(255, 255))).toBe(true);
  });

  it("iterates ranges with inclusive and exclusive bounds, in both directions, up to a limit", async () => {
    await put(...[1, 2, 3, 4, 5].map((n): [number, Uint8Array, Uint8Array] => [7, bytes(n), bytes(n)]));
    const keys = async (range: Parameters<LevelStore["keys"]>[1]) =>
      (await collect(store.keys(7, range))).map((key) => key[0]);
    expect(await keys({ gte: bytes(2), lte: bytes(4) })).toEqual([2, 3, 4]);
    expect(await keys({ gt: bytes(2), lt: bytes(4) })).toEqual([3]);
    expect(await keys({ lt: bytes(4), reverse: true, limit: 2 })).toEqual([3, 2]);
    expect(await keys({ gt: bytes(3) })).toEqual([4, 5]);
  });

  it("returns plain Uint8Arrays with their own memory", async () => {
    await put([1, bytes(1), bytes(1, 2, 3)]);
    const value = await store.get(1, bytes(1));
    expect(value?.constructor).toBe(Uint8Array);
    for await (const [key] of store.entries(1)) expect(key.constructor).toBe(Uint8Array);
  });

  it("writes nothing before write(), and a batch only once", async () => {
    const batch = store.batch();
    batch.put(1, bytes(1), bytes(1));
    expect(await store.isEmpty()).toBe(true);
    await batch.write();
    expect(await store.isEmpty()).toBe(false);
    await expect(batch.write()).rejects.toThrow("can be written once");
  });

  it("applies the last write to a key in a batch", async () => {
    const batch = store.batch();
    batch.delete(1, bytes(1));
    batch.put(1, bytes(1), bytes(1));
    batch.put(1, bytes(2), bytes(2));
    batch.delete(1, bytes(2));
    await batch.write();
    expect(await store.get(1, bytes(1))).toEqual(bytes(1));
    expect(await store.get(1, bytes(2))).toBeNull();
  });

  it("rejects all writes after a failed one, including queued ones", async () => {
    await put([1, bytes(1), bytes(1)]);
    const writing = vi.spyOn(ClassicLevel.prototype, "batch").mockRejectedValueOnce(new Error("No space left."));
    onTestFinished(() => writing.mockRestore());
    const outcomes = await Promise.allSettled([put([1, bytes(2), bytes(2)]), put([1, bytes(3), bytes(3)])]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(store.clear(1)).rejects.toThrow(DatabaseWriteError);
    expect(writing).toHaveBeenCalledTimes(1);
    expect((await store.failed).message).toBe(`The database at ${dir.path} could not be written: No space left.`);
    // Previously written values stay readable.
    expect(await collect(store.keys(1))).toEqual([bytes(1)]);
  });

  it("does not report a write after close as a failure", async () => {
    await store.close();
    await expect(put([1, bytes(1), bytes(1)])).rejects.toThrow("not open");
    expect(store.failure).toBeUndefined();
  });

  it("reports a database in use", async () => {
    await expect(LevelStore.open(dir.path, { sync: false })).rejects.toThrow(DatabaseInUseError);
  });

  it("reports a damaged database for a corrupt or missing file", async () => {
    await put([1, bytes(1), bytes(1)]);
    await store.close();
    await writeFile(join(dir.path, "CURRENT"), "garbled");
    await expect(LevelStore.open(dir.path, { sync: false })).rejects.toThrow(DatabaseCorruptError);
    await writeFile(join(dir.path, "CURRENT"), "MANIFEST-999999\n");
    await expect(LevelStore.open(dir.path, { sync: false })).rejects.toThrow(DatabaseCorruptError);
  });

  it("reports file system errors as open errors", async () => {
    const file = join(dir.path, "plain-file");
    await writeFile(file, "");
    await expect(LevelStore.open(file, { sync: false })).rejects.toThrow(DatabaseOpenError);
  });
});
