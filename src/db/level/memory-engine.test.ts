import { ClassicLevel } from "classic-level";
import { describe, expect, it, onTestFinished } from "vitest";
import { collect } from "../../../test/support/db/collect.ts";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import type { Engine, EngineRange } from "./engine.ts";
import type { Operation } from "./layers.ts";
import { MemoryEngine } from "./memory-engine.ts";

const KEYS = 40;
const bytes = (...values: number[]) => Uint8Array.from(values);
const put = (key: number, value: number): Operation => ({ type: "put", key: keyOf(key), value: bytes(value) });
const writeTo = (engine: Engine, ...operations: Operation[]) => engine.batch(operations, { sync: false });

/** Includes the empty key, prefixes of other keys and invalid UTF-8. */
function keyOf(n: number): Uint8Array {
  return n === 0 ? bytes() : n % 4 === 0 ? bytes(0xd8 + n) : bytes(0xd8 + n - (n % 4), n % 4);
}

/** Seeded pseudo-random integers below a limit. */
function integersFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

async function openLevelDb(): Promise<Engine> {
  const directory = removableDirectory();
  const level = new ClassicLevel<Uint8Array, Uint8Array>(directory.path, {
    keyEncoding: "view",
    valueEncoding: "view",
  });
  await level.open();
  onTestFinished(async () => {
    await level.close();
    directory.remove();
  });
  return level;
}

describe("MemoryEngine", () => {
  it.each([1, 2, 3])("has the contents of LevelDB after the same writes (%i)", async (seed) => {
    const random = integersFrom(seed);
    const engines = [new MemoryEngine(), await openLevelDb()] as const;
    const both = <T>(read: (engine: Engine) => Promise<T>) => Promise.all(engines.map(read));
    const expectSame = async (read: (engine: Engine) => Promise<unknown>) => {
      const [inMemory, inLevelDb] = await both(read);
      expect(inMemory).toEqual(inLevelDb);
    };
    const range = (): EngineRange => ({
      ...[{}, { gt: keyOf(random(KEYS)) }, { gte: keyOf(random(KEYS)) }][random(3)],
      ...[{}, { lt: keyOf(random(KEYS)) }, { lte: keyOf(random(KEYS)) }][random(3)],
      reverse: random(2) === 0,
      limit: random(2) === 0 ? -1 : random(5),
    });
    for (let step = 0; step < 100; step++) {
      const operations = Array.from({ length: random(8) }, (): Operation => {
        const key = random(KEYS);
        return random(3) === 0 ? { type: "del", key: keyOf(key) } : put(key, random(256));
      });
      await both((engine) => writeTo(engine, ...operations));
      const cleared = range();
      if (random(5) === 0) await both((engine) => engine.clear(cleared));
      const [searched, key] = [range(), keyOf(random(KEYS))];
      await expectSame(async (engine) => (await collect(engine.iterator(searched))).map((entry) => entry.map(plain)));
      await expectSame(async (engine) => (await collect(engine.keys(searched))).map(plain));
      await expectSame(async (engine) => [plain(await engine.get(key)), await engine.has(key)]);
    }
  });

  it("does not share memory with its callers", async () => {
    const engine = new MemoryEngine();
    const value = bytes(1, 2, 3);
    await writeTo(engine, { type: "put", key: keyOf(1), value });
    value.fill(9);
    (await engine.get(keyOf(1)))?.fill(8);
    for await (const [, found] of engine.iterator({})) found.fill(7);
    expect(await engine.get(keyOf(1))).toEqual(bytes(1, 2, 3));
  });

  it("iterates the contents at the creation of the iterator", async () => {
    const engine = new MemoryEngine();
    await writeTo(engine, put(1, 1), put(3, 3));
    const iterator = engine.iterator({});
    await writeTo(engine, put(2, 2), put(3, 9), { type: "del", key: keyOf(1) });
    expect(await collect(iterator)).toEqual([
      [keyOf(1), bytes(1)],
      [keyOf(3), bytes(3)],
    ]);
  });

  it("rejects calls after it is closed", async () => {
    const engine = new MemoryEngine();
    await engine.close();
    const notOpen = { code: "LEVEL_DATABASE_NOT_OPEN" };
    await expect(engine.get(keyOf(1))).rejects.toMatchObject(notOpen);
    await expect(writeTo(engine, put(1, 1))).rejects.toMatchObject(notOpen);
  });
});

/** Converts LevelDB's Buffers to arrays. */
const plain = (found: Uint8Array | undefined) => found && [...found];
