import { PublicKey } from "@chainsafe/blst";
import { interopSecretKeys } from "@lodestar/state-transition";
import { expect, it, onTestFinished } from "vitest";
import { type CompletedPortion, completeKeys } from "./complete-keys.ts";
import { FlatPubkeys } from "./flat-pubkeys.ts";
import { isCompressed, KEY_LENGTH } from "./key-memory.ts";
import { WorkerPool } from "./worker-pool.ts";

const PORTION = 4096;
const COUNT = 2 * PORTION + 3;
const keys = interopSecretKeys(8).map((secretKey) => secretKey.toPublicKey().toBytes());
const validators = Array.from({ length: COUNT }, (_, i) => ({ pubkey: keys[i % keys.length]! }));

async function scene(registered = validators) {
  const pubkeys = new FlatPubkeys();
  await pubkeys.takeUp(registered);
  const workers = new WorkerPool({ threads: 1 });
  onTestFinished(() => workers.close());
  const { memory } = pubkeys;
  const compressed = () => Array.from({ length: COUNT }, (_, i) => i).filter((i) => isCompressed(memory.at(i))).length;
  /** Goes on until that many portions are there. */
  const complete = async (wanted: number, recall: (keys: Uint8Array, from: number) => void = () => {}) => {
    const portions: CompletedPortion[] = [];
    await completeKeys(memory, pubkeys.size, {
      workers,
      recall: async (place, from) => recall(place, from),
      onCompleted: async (portion) => void portions.push(portion),
      isWanted: () => portions.length < wanted,
    });
    return portions;
  };
  return { pubkeys, memory, compressed, complete };
}

it("ends between two portions when it is told to, and goes on later with those that are left", async () => {
  const { memory, compressed, complete } = await scene();
  expect(compressed()).toBe(COUNT);
  expect(await complete(1)).toEqual([{ from: 0, to: PORTION, made: PORTION, unfit: 0 }]);
  expect(compressed()).toBe(COUNT - PORTION);
  expect(await complete(9)).toEqual([
    { from: PORTION, to: 2 * PORTION, made: PORTION, unfit: 0 },
    { from: 2 * PORTION, to: COUNT, made: 3, unfit: 0 },
  ]);
  expect(compressed()).toBe(0);
  for (const index of [0, PORTION, COUNT - 1]) {
    expect(memory.at(index)).toEqual(PublicKey.fromBytes(validators[index]!.pubkey).toBytes(false));
  }
  expect(await complete(9)).toEqual([]);
});

it("takes what was kept where it is right, and leaves what has come to a place meanwhile", async () => {
  const { pubkeys, memory, complete } = await scene();
  const whole = keys.map((key) => PublicKey.fromBytes(key).toBytes(false));
  const other = interopSecretKeys(9)[8]!.toPublicKey().toBytes();
  const [first] = await complete(1, (place) => {
    for (let i = 0; i < 16; i++) place.set(whole[i % keys.length]!, i * KEY_LENGTH);
    place.set(whole[2]!, 7 * KEY_LENGTH);
    // As it lies in a memory in which it was not completed.
    place.set(keys[0]!, 8 * KEY_LENGTH);
    pubkeys.truncate(20);
    for (let i = 20; i < 24; i++) pubkeys.set(i, other);
  });
  expect(first).toEqual({ from: 0, to: PORTION, made: PORTION - 14, unfit: 2 });
  for (let i = 0; i < 20; i++) expect(memory.at(i)).toEqual(whole[i % keys.length]);
  for (let i = 20; i < 24; i++) expect(pubkeys.getOrThrow(i).toBytes()).toEqual(other);
  expect(pubkeys.getIndex(other)).toBe(23);
});

it("says which of the keys is none", async () => {
  const bad = new Uint8Array(48).fill(0x9f);
  const index = PORTION + 5;
  const { pubkeys, complete } = await scene(validators.with(index, { pubkey: bad }));
  const message = `the public key 0x${Buffer.from(bad).toString("hex")} of validator ${index} is not a point of the curve`;
  expect(() => pubkeys.get(index)).toThrow(message);
  await expect(complete(9)).rejects.toThrow(message);
  expect(pubkeys.getIndex(bad)).toBe(index);
});
