import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RemovableDirectory, removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { LevelStore } from "../level/level-store.ts";
import { readLog } from "./log-file.ts";
import { entriesOfRecord, sequencesOf } from "./write-record.ts";

/** Sizes that end inside a block, span more than two, and fall on block boundaries. */
const SIZES = [10, 32_700, 3, 70_000, 1, 32_768 - 7 - 14, 500];

describe("readLog", () => {
  let dir: RemovableDirectory;
  let bytes: Uint8Array;

  beforeAll(async () => {
    dir = removableDirectory();
    const store = await LevelStore.open(dir.path, { sync: false });
    for (const [n, size] of SIZES.entries()) {
      const batch = store.batch();
      batch.put(1, Uint8Array.of(n), new Uint8Array(size).fill(0x40 + n));
      if (n > 0) batch.delete(1, Uint8Array.of(n - 1));
      await batch.write();
    }
    const name = readdirSync(dir.path).find((file) => file.endsWith(".log"))!;
    bytes = new Uint8Array(readFileSync(join(dir.path, name)));
    await store.close();
  });

  afterAll(() => dir.remove());

  const flipped = (offset: number) => {
    const damaged = bytes.slice();
    damaged[offset]! ^= 0x10;
    return damaged;
  };

  it("returns the writes in order", () => {
    const { records, damagedAt, tornBytes } = readLog(bytes);
    expect({ damagedAt, tornBytes }).toEqual({ damagedAt: undefined, tornBytes: 0 });
    expect(records.map((record) => [...entriesOfRecord(record)][0]?.value?.length)).toEqual(SIZES);
    expect(records.map(sequencesOf)).toEqual(
      SIZES.map((_, n) => ({ first: n === 0 ? 1n : BigInt(2 * n), count: n === 0 ? 1 : 2 })),
    );
    expect([...entriesOfRecord(records[1]!)][1]).toEqual({ key: Uint8Array.of(1, 0), value: null, sequence: 3n });
  });

  it("reports a truncation at any offset as a torn end", () => {
    const all = readLog(bytes).records;
    for (let length = bytes.length - 1; length > 0; length -= 5003) {
      const { records, damagedAt } = readLog(bytes.subarray(0, length));
      expect(damagedAt, `cut at ${length}`).toBeUndefined();
      expect(records).toEqual(all.slice(0, records.length));
      expect(records.length).toBeLessThan(all.length);
    }
  });

  it("reports any changed byte before the last record as damage", () => {
    const lastAt = bytes.length - 500 - 40;
    for (let offset = 0; offset < 34; offset++) expect(readLog(flipped(offset)).damagedAt, `byte ${offset}`).toBe(0);
    for (let offset = 34; offset < lastAt; offset += 1013) {
      expect(readLog(flipped(offset)).damagedAt, `byte ${offset}`).toBeDefined();
    }
  });

  it("reports a changed last record as a torn end", () => {
    const { records, damagedAt, tornBytes } = readLog(flipped(bytes.length - 3));
    expect({ count: records.length, damagedAt }).toEqual({ count: SIZES.length - 1, damagedAt: undefined });
    expect(tornBytes).toBeGreaterThan(500);
  });
});
