import { PublicKey } from "@chainsafe/blst";
import { interopSecretKeys } from "@lodestar/state-transition";
import { expect, it, onTestFinished } from "vitest";
import { type DecompressedRange, decompressKeys } from "./decompress-keys.ts";
import { FlatPubkeys } from "./flat-pubkeys.ts";
import { isCompressed, KEY_LENGTH } from "./key-memory.ts";
import { WorkerPool } from "./worker-pool.ts";

const PORTION = 4096;
const COUNT = 2 * PORTION + 3;
const keys = interopSecretKeys(8).map((secretKey) => secretKey.toPublicKey().toBytes());
const validators = Array.from({ length: COUNT }, (_, i) => ({ pubkey: keys[i % keys.length]! }));

async function scene(registered = validators) {
  const pubkeys = new FlatPubkeys();
  await pubkeys.addAll(registered);
  const workers = new WorkerPool({ threads: 1 });
  onTestFinished(() => workers.close());
  const { memory } = pubkeys;
  const compressed = () => Array.from({ length: COUNT }, (_, i) => i).filter((i) => isCompressed(memory.at(i))).length;
  /** Stops after the given number of ranges. */
  const complete = async (wanted: number, loadCached: (keys: Uint8Array, from: number) => void = () => {}) => {
    const ranges: DecompressedRange[] = [];
    await decompressKeys(memory, pubkeys.size, {
      workers,
      loadCached: async (target, from) => loadCached(target, from),
      onDecompressed: async (range) => void ranges.push(range),
      isWanted: () => ranges.length < wanted,
    });
    return ranges;
  };
  return { pubkeys, memory, compressed, complete };
}

it("stops between ranges on request and resumes later", async () => {
  const { memory, compressed, complete } = await scene();
  expect(compressed()).toBe(COUNT);
  expect(await complete(1)).toEqual([{ from: 0, to: PORTION, decompressed: PORTION, unfit: 0 }]);
  expect(compressed()).toBe(COUNT - PORTION);
  expect(await complete(9)).toEqual([
    { from: PORTION, to: 2 * PORTION, decompressed: PORTION, unfit: 0 },
    { from: 2 * PORTION, to: COUNT, decompressed: 3, unfit: 0 },
  ]);
  expect(compressed()).toBe(0);
  for (const index of [0, PORTION, COUNT - 1]) {
    expect(memory.at(index)).toEqual(PublicKey.fromBytes(validators[index]!.pubkey).toBytes(false));
  }
  expect(await complete(9)).toEqual([]);
});

it("uses correct cached keys and keeps concurrent additions", async () => {
  const { pubkeys, memory, complete } = await scene();
  const uncompressed = keys.map((key) => PublicKey.fromBytes(key).toBytes(false));
  const other = interopSecretKeys(9)[8]!.toPublicKey().toBytes();
  const [first] = await complete(1, (target) => {
    for (let i = 0; i < 16; i++) target.set(uncompressed[i % keys.length]!, i * KEY_LENGTH);
    target.set(uncompressed[2]!, 7 * KEY_LENGTH);
    // A key that the cache holds in compressed form.
    target.set(keys[0]!, 8 * KEY_LENGTH);
    pubkeys.truncate(20);
    for (let i = 20; i < 24; i++) pubkeys.set(i, other);
  });
  expect(first).toEqual({ from: 0, to: PORTION, decompressed: PORTION - 14, unfit: 2 });
  for (let i = 0; i < 20; i++) expect(memory.at(i)).toEqual(uncompressed[i % keys.length]);
  for (let i = 20; i < 24; i++) expect(pubkeys.getOrThrow(i).toBytes()).toEqual(other);
  expect(pubkeys.getIndex(other)).toBe(23);
});

it("reports the invalid key", async () => {
  const bad = new Uint8Array(48).fill(0x9f);
  const index = PORTION + 5;
  const { pubkeys, complete } = await scene(validators.with(index, { pubkey: bad }));
  const key = `0x${Buffer.from(bad).toString("hex")}`;
  const message = `the public key ${key} of validator ${index} is not a point of the curve`;
  expect(() => pubkeys.get(index)).toThrow(message);
  await expect(complete(9)).rejects.toThrow(message);
  expect(pubkeys.getIndex(bad)).toBe(index);
});
