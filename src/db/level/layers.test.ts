import { ClassicLevel } from "classic-level";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { collect } from "../../../test/support/db/collect.ts";
import { type RemovableDirectory, removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { LAYERS } from "../keys.ts";
import { Layers, readLiveLayers } from "./layers.ts";
import { LevelStore } from "./level-store.ts";

const BUCKETS = [1, 2, 3];
const KEYS = 24;

/** Seeded pseudo-random numbers in [0, 1). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Expected contents: bucket → key number → value number. */
type Model = Map<string, number>;

describe("Layers", () => {
  it("never lists a dropped layer as live", () => {
    const layers = new Layers();
    const numbers = [1, 2, 3].map(() => {
      const number = layers.allocate();
      layers.add(number);
      return number;
    });
    const liveAfter = (number: number) => {
      const operation = layers.dropOperation(number);
      return readLiveLayers(operation.type === "put" ? operation.value : undefined);
    };
    expect(numbers.map(liveAfter)).toEqual([[], [1], [1, 2]]);
  });
});

describe("LevelStore layers", () => {
  let dir: RemovableDirectory;
  let store: LevelStore;

  const open = async () => {
    store = await LevelStore.open(dir.path, { sync: false });
    await store.mergeLayers();
  };

  beforeEach(async () => {
    dir = removableDirectory();
    await open();
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    dir.remove();
  });

  // The last keys are not valid UTF-8, and the first is a prefix of all others.
  const keyOf = (n: number) => (n === 0 ? new Uint8Array() : Uint8Array.of(0xff - KEYS + n, n % 3));
  const bytesOf = (n: number) => new Uint8Array(n % 4).fill(n);

  async function write(changes: [bucket: number, key: number, value: number | null][], model?: Model): Promise<void> {
    const batch = store.batch();
    for (const [bucket, key, value] of changes) {
      if (value === null) batch.delete(bucket, keyOf(key));
      else batch.put(bucket, keyOf(key), bytesOf(value));
    }
    await batch.write();
    for (const [bucket, key, value] of changes) {
      if (value === null) model?.delete(`${bucket}/${key}`);
      else model?.set(`${bucket}/${key}`, value);
    }
  }

  async function contents(): Promise<Record<string, Uint8Array>> {
    const found: Record<string, Uint8Array> = {};
    for (const bucket of BUCKETS) {
      for await (const [key, value] of store.entries(bucket)) found[`${bucket}/${[...key]}`] = value;
    }
    return found;
  }

  const layerEntries = () => collect(store.keys(LAYERS));

  function inModel(model: Model, bucket: number): { key: Uint8Array; value: Uint8Array }[] {
    return Array.from({ length: KEYS }, (_, n) => n).flatMap((n) => {
      const value = model.get(`${bucket}/${n}`);
      return value === undefined ? [] : [{ key: keyOf(n), value: bytesOf(value) }];
    });
  }

  async function expectToHold(model: Model, random: () => number): Promise<void> {
    for (const bucket of BUCKETS) {
      const all = inModel(model, bucket);
      expect(await collect(store.entries(bucket))).toEqual(all.map(({ key, value }) => [key, value]));
      const [from, to] = [Math.floor(random() * KEYS), Math.floor(random() * KEYS)];
      const [isFromIn, isToIn, reverse] = [random() < 0.5, random() < 0.5, random() < 0.5];
      const limit = random() < 0.5 ? undefined : Math.floor(random() * 5);
      const range = {
        ...(isFromIn ? { gte: keyOf(from) } : { gt: keyOf(from) }),
        ...(isToIn ? { lte: keyOf(to) } : { lt: keyOf(to) }),
        reverse,
        limit,
      };
      const compare = (a: Uint8Array, b: number) => Buffer.compare(a, keyOf(b));
      const within = all.filter(
        ({ key }) =>
          (isFromIn ? compare(key, from) >= 0 : compare(key, from) > 0) &&
          (isToIn ? compare(key, to) <= 0 : compare(key, to) < 0),
      );
      const wanted = (reverse ? within.reverse() : within).slice(0, limit).map(({ key }) => key);
      expect(await collect(store.keys(bucket, range))).toEqual(wanted);
      const index = Math.floor(random() * KEYS);
      const value = model.get(`${bucket}/${index}`);
      expect(await store.get(bucket, keyOf(index))).toEqual(value === undefined ? null : bytesOf(value));
      expect(await store.has(bucket, keyOf(index))).toBe(value !== undefined);
    }
  }

  it.each([1, 2, 3])("match a map after random writes, drops and restarts (%i)", async (seed) => {
    const random = numbersFrom(seed);
    let model: Model = new Map();
    let layers: { number: number; before: Model }[] = [];
    for (let step = 0; step < 120; step++) {
      const choice = random();
      if (choice < 0.6) {
        const changes = Array.from({ length: 1 + Math.floor(random() * 6) }, (): [number, number, number | null] => [
          BUCKETS[Math.floor(random() * BUCKETS.length)]!,
          Math.floor(random() * KEYS),
          random() < 0.3 ? null : Math.floor(random() * 200),
        ]);
        await write(changes, model);
      } else if (choice < 0.75) {
        layers.push({ number: await store.addLayer(), before: new Map(model) });
      } else if (choice < 0.9 && layers.length > 0) {
        const { number, before } = layers[Math.floor(random() * layers.length)]!;
        await store.dropLayer(number);
        model = new Map(before);
        layers = layers.filter((layer) => layer.number < number);
      } else if (choice < 0.93) {
        const bucket = BUCKETS[Math.floor(random() * BUCKETS.length)]!;
        await store.clear(bucket);
        for (const key of model.keys()) if (key.startsWith(`${bucket}/`)) model.delete(key);
      } else {
        await store.close();
        await open();
        layers = [];
        expect(await layerEntries()).toEqual([]);
      }
      await expectToHold(model, random);
    }
  });

  it("start with the given operations, or not at all if their source fails", async () => {
    await write([
      [1, 1, 1],
      [1, 2, 2],
    ]);
    const change = { type: "put", key: Uint8Array.of(1, ...keyOf(3)), value: bytesOf(3) } as const;
    await expect(
      store.addFilledLayer(
        (async function* () {
          yield change;
          throw new Error("There is no more.");
        })(),
      ),
    ).rejects.toThrow("There is no more.");
    const { failure } = store;
    expect(failure).toBeUndefined();
    expect(await store.get(1, keyOf(3))).toBeNull();
    const layer = await store.addFilledLayer(
      (async function* () {
        yield { type: "del", key: Uint8Array.of(1, ...keyOf(1)) } as const;
        yield change;
      })(),
    );
    expect(await collect(store.keys(1))).toEqual([keyOf(2), keyOf(3)]);
    await store.dropLayer(layer);
    expect(await collect(store.keys(1))).toEqual([keyOf(1), keyOf(2)]);
  });

  it("delete the entries of dropped layers", async () => {
    await write([[1, 1, 1]]);
    const first = await store.addLayer();
    await write([[1, 2, 2]]);
    await store.addLayer();
    await write([[1, 3, 3]]);
    await store.dropLayer(first);
    // Only the list of live layers is left.
    await vi.waitFor(async () => expect(await layerEntries()).toHaveLength(1));
    expect(await contents()).toEqual({ [`1/${[...keyOf(1)]}`]: bytesOf(1) });
  });

  it("finish a running iteration consistently when its layer is dropped", async () => {
    await write([[1, 1, 1]]);
    const layer = await store.addLayer();
    await write([[1, 2, 2]]);
    const entries = store.entries(1);
    expect((await entries.next()).value).toEqual([keyOf(1), bytesOf(1)]);
    await store.dropLayer(layer);
    const rest = await collect(entries);
    expect([[], [[keyOf(2), bytesOf(2)]]]).toContainEqual(rest);
  });

  describe("after a crash between two writes", () => {
    /** Lets the given number of writes through and fails all later writes, as if the process had ended. */
    function failAfter(writes: number): void {
      let left = writes;
      for (const name of ["batch", "clear"] as const) {
        const write = ClassicLevel.prototype[name] as (...parameters: unknown[]) => Promise<void>;
        vi.spyOn(ClassicLevel.prototype, name).mockImplementation(function (
          this: ClassicLevel,
          ...parameters: unknown[]
        ) {
          if (left-- > 0) return write.apply(this, parameters);
          return Promise.reject(new Error("The process has ended."));
        } as never);
      }
    }

    async function crash(): Promise<void> {
      vi.restoreAllMocks();
      await store.close();
      await open();
    }

    async function fill() {
      await write([
        [1, 1, 1],
        [1, 2, 2],
        [2, 1, 3],
      ]);
      await store.addLayer();
      await write([
        [1, 1, 11],
        [1, 3, 13],
        [2, 1, null],
        [3, 5, null],
      ]);
      const below = await contents();
      const second = await store.addLayer();
      await write([
        [1, 2, null],
        [1, 3, 23],
        [3, 5, 25],
      ]);
      return { below, second, all: await contents() };
    }

    it.each([
      [0, "all"],
      [1, "below"],
      [2, "below"],
    ] as const)("a revert that is cut short after %i writes leaves %s", async (writes, left) => {
      const { second, ...expected } = await fill();
      failAfter(writes);
      await store.dropLayer(second).catch(() => {});
      await crash();
      expect(await contents()).toEqual(expected[left]);
    });

    it.each([0, 1, 2])(
      "a layer with many initial operations is added completely or not at all (%i)",
      async (writes) => {
        const { all } = await fill();
        failAfter(writes);
        const operations = (async function* () {
          // Enough deletions for more than one chunk.
          for (let n = 0; n < 3000; n++) yield { type: "del", key: Uint8Array.of(9, n >> 8, n & 255) } as const;
          yield { type: "put", key: Uint8Array.of(1, ...keyOf(7)), value: bytesOf(7) } as const;
        })();
        await expect(store.addFilledLayer(operations)).rejects.toThrow("could not be written");
        await crash();
        expect(await contents()).toEqual(all);
        expect(await layerEntries()).toEqual([]);
      },
    );

    it("adding a layer changes nothing", async () => {
      await fill();
      const before = await contents();
      failAfter(0);
      await expect(store.addLayer()).rejects.toThrow("could not be written");
      await crash();
      expect(await contents()).toEqual(before);
    });

    it("reopening resumes the merge", async () => {
      const opened = vi.fn();
      for (let writes = 0; writes < 5; writes++) {
        await fill();
        const before = await contents();
        await store.close();
        store = await LevelStore.open(dir.path, { sync: false });
        failAfter(writes);
        await store.mergeLayers().then(opened, () => {});
        await crash();
        expect(await contents()).toEqual(before);
        expect(await layerEntries()).toEqual([]);
      }
      // Two layers and their clean-up take three writes.
      expect(opened).toHaveBeenCalledTimes(2);
    });
  });
});
