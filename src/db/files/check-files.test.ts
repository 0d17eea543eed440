import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type RemovableDirectory, removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { DatabaseCorruptError } from "../errors.ts";
import { Bucket } from "../keys.ts";
import { LevelStore } from "../level/level-store.ts";
import { openDatabase } from "../open-database.ts";
import { checkFiles } from "./check-files.ts";

const EVERYTHING = { bulkBytes: Number.POSITIVE_INFINITY };

/** Returns incompressible bytes from a fixed seed. Most block data is incompressible. */
function noise(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let state = seed + 1, i = 0; i < length; i++) {
    state = Math.imul(state, 1_103_515_245) + 12_345;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

describe("checkFiles", () => {
  let original: RemovableDirectory;

  /** A database with compacted tables, uncompacted tables, and a log. */
  beforeAll(async () => {
    original = removableDirectory();
    const store = await LevelStore.open(original.path, { sync: false });
    for (let n = 0; n < 60; n++) {
      if (n === 40) for (const bucket of [Bucket.blocks, Bucket.hotBlocks]) await store.compact(bucket);
      const batch = store.batch();
      batch.put(Bucket.blocks, noise(32, n), noise(n % 5 === 0 ? 900_000 : 5000, n));
      batch.put(Bucket.finalizedBlocks, noise(8, n), new Uint8Array(32).fill(n));
      if (n > 5) batch.delete(Bucket.hotBlocks, noise(8, n - 5));
      batch.put(Bucket.hotBlocks, noise(8, n), noise(300, n));
      await batch.write();
    }
    await store.close();
  });

  afterAll(() => original.remove());

  async function copied(): Promise<string> {
    const dir = removableDirectory();
    onTestFinished(dir.remove);
    cpSync(original.path, dir.path, { recursive: true });
    return dir.path;
  }
  const named = (path: string, pattern: RegExp) => readdirSync(path).filter((name) => pattern.test(name));

  /** Expects a corruption error and unchanged files. */
  async function expectRefused(path: string, reason: RegExp): Promise<void> {
    const files = () =>
      named(path, /^(?!LOG|LOCK)/).map((name) => [
        name,
        statSync(join(path, name)).size,
        statSync(join(path, name)).mtimeMs,
      ]);
    const before = files();
    const refusal = await openDatabase(path, { sync: false }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DatabaseCorruptError);
    expect(String(refusal)).toMatch(reason);
    expect(files()).toEqual(before);
  }

  it("accepts files after writes, flushes and compactions", async () => {
    const checked = await checkFiles(original.path, EVERYTHING);
    expect(checked).toEqual({ tables: named(original.path, /ldb$/).length, unreadTables: 0, tornBytes: 0 });
    expect(checked.tables).toBeGreaterThan(2);
    expect(statSync(join(original.path, named(original.path, /log$/).at(-1)!)).size).toBeGreaterThan(0);
    expect((await checkFiles(original.path, { bulkBytes: 0 })).unreadTables).toBeGreaterThan(0);
  });

  it("rejects a changed byte in any table, log or manifest", async () => {
    const path = await copied();
    for (const name of named(path, /(ldb|log|MANIFEST-\d+)$/)) {
      const file = join(path, name);
      const intact = new Uint8Array(readFileSync(file));
      const offsets = Array.from({ length: 5 }, (_, n) => Math.floor((intact.length * n) / 5));
      // The footer ends with the magic number; the 40 bytes before it include padding.
      const last = name.endsWith("ldb") ? [intact.length - 1, intact.length - 60] : [];
      for (const offset of [...offsets, ...last]) {
        const damaged = intact.slice();
        damaged[offset]! ^= 1;
        writeFileSync(file, damaged);
        await expect(checkFiles(path, EVERYTHING), `${name} at ${offset} of ${intact.length}`).rejects.toThrow(
          DatabaseCorruptError,
        );
      }
      writeFileSync(file, intact);
    }
    expect((await checkFiles(path, EVERYTHING)).tornBytes).toBe(0);
  });

  it("rejects a missing or truncated file without deleting any", async () => {
    const missing = async (pattern: RegExp, reason: RegExp) => {
      const path = await copied();
      rmSync(join(path, named(path, pattern)[0]!));
      await expectRefused(path, reason);
    };
    await missing(/^CURRENT$/, /the file CURRENT is missing/);
    await missing(/^MANIFEST/, /the manifest named in CURRENT is missing/);
    await missing(/ldb$/, /table \d+ is missing/);
    await missing(/log$/, /log \d+ is missing/);

    for (const [pattern, reason] of [
      [/ldb$/, /has \d+ bytes, expected \d+/],
      [/^MANIFEST/, /is missing|is empty/],
    ] as const) {
      const path = await copied();
      const file = join(path, named(path, pattern)[0]!);
      truncateSync(file, Math.floor(statSync(file).size / 2));
      await expectRefused(path, reason);
    }
  });

  it("rejects a gap in the sequence numbers of the logs", async () => {
    const path = await copied();
    const store = await LevelStore.open(path, { sync: false });
    const put = async (n: number) => {
      const batch = store.batch();
      batch.put(Bucket.blocks, noise(32, n), noise(2000, n));
      await batch.write();
    };
    await put(100);
    const log = named(path, /log$/)[0]!;
    const short = readFileSync(join(path, log));
    await put(101);
    await store.close();
    // A second log, which exists while LevelDB flushes the first log into a table.
    const long = new Uint8Array(readFileSync(join(path, log)));
    writeFileSync(
      join(
        path,
        log.replace(/^\d+/, (number) => String(Number(number) + 5).padStart(6, "0")),
      ),
      long.slice(0),
    );
    writeFileSync(join(path, log), short);
    await expectRefused(path, /lacks the writes before sequence \d+/);
  });

  it("opens without a torn last write and reports it", async () => {
    const path = await copied();
    const log = join(path, named(path, /log$/)[0]!);
    truncateSync(log, statSync(log).size - 10);
    const tornBytes: number[] = [];
    // This database lacks the schema version, which is checked after opening.
    await openDatabase(path, { sync: false, onTornWrite: (bytes) => tornBytes.push(bytes) }).catch(() => {});
    expect(tornBytes).toEqual([expect.any(Number)]);
    expect(tornBytes[0]).toBeGreaterThan(0);
  });

  it("treats a lone manifest after a crash as a new database", async () => {
    const dir = removableDirectory();
    onTestFinished(dir.remove);
    const db = await openDatabase(dir.path, { sync: false });
    await db.close();
    for (const name of named(dir.path, /log$|^CURRENT$/)) rmSync(join(dir.path, name));
    for (const name of named(dir.path, /^MANIFEST/))
      renameSync(join(dir.path, name), join(dir.path, "MANIFEST-000001"));
    await (await openDatabase(dir.path, { sync: false })).close();
  });
});
