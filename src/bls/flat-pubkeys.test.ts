import { aggregatePublicKeys, PublicKey, SecretKey } from "@chainsafe/blst";
import { createPubkeyCache } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { FlatPubkeys } from "./flat-pubkeys.ts";

const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

function keyOf(secret: bigint): Uint8Array {
  return SecretKey.fromBytes(Buffer.from(secret.toString(16).padStart(64, "0"), "hex"))
    .toPublicKey()
    .toBytes();
}

/** Includes points that differ only in the sign of y. */
const keys = Array.from({ length: 100 }, (_, i) => BigInt(i + 1)).flatMap((n) => [keyOf(n), keyOf(ORDER - n)]);

/** The first `count` keys are added without being decompressed. */
it.each([0, 100, 150])("matches the library's cache, with %d keys added in bulk", async (count) => {
  const [flat, reference] = [new FlatPubkeys(), createPubkeyCache()];
  await flat.addAll(keys.slice(0, count).map((pubkey) => ({ pubkey })));
  keys.slice(0, 150).forEach((key, index) => {
    if (index >= count) flat.set(index, key);
    reference.set(index, key);
  });
  expect(flat.size).toBe(reference.size);
  for (const key of keys) expect(flat.getIndex(key)).toBe(reference.getIndex(key));
  for (let index = 0; index < 152; index++) {
    expect(flat.get(index)?.toHex()).toBe(reference.get(index)?.toHex());
  }
  expect(() => flat.getOrThrow(150)).toThrow("Unknown validator 150");
});

it("finds only keys in their canonical encoding", () => {
  const flat = new FlatPubkeys();
  const [key] = keys as [Uint8Array];
  flat.set(0, key);
  expect(flat.getIndex(key)).toBe(0);
  const otherBits = [0x80, 0x40, 0x20].map((bit) => Uint8Array.from(key, (byte, i) => (i === 0 ? byte ^ bit : byte)));
  const uncompressed = PublicKey.fromBytes(key).toBytes(false);
  for (const other of [...otherBits, uncompressed, key.subarray(0, 47), new Uint8Array(48), new Uint8Array(0)]) {
    expect(flat.getIndex(other)).toBeNull();
  }
});

it.each([0, 2])("finds a key at its latest index only, with %d added in bulk", async (count) => {
  const flat = new FlatPubkeys();
  const [first, second, third] = keys as [Uint8Array, Uint8Array, Uint8Array];
  await flat.addAll([first, second].slice(0, count).map((pubkey) => ({ pubkey })));
  flat.set(0, first);
  flat.set(1, second);
  flat.set(1, third);
  expect([first, second, third].map((key) => flat.getIndex(key))).toEqual([0, null, 1]);
  flat.set(1, first);
  flat.set(0, first);
  expect(flat.getIndex(first)).toBe(0);
  expect(flat.size).toBe(2);
  expect(flat.getOrThrow(1).toBytes()).toEqual(first);
});

it("rejects invalid and out-of-order keys without changes", async () => {
  const flat = new FlatPubkeys();
  expect(() => flat.set(0, new Uint8Array(48))).toThrow(
    `the public key 0x${"00".repeat(48)} of validator 0 is not a point of the curve`,
  );
  expect(() => flat.set(0, new Uint8Array(47))).toThrow("of validator 0 is not a point");
  expect(() => flat.set(1, keys[0]!)).toThrow("expected index 0, got 1");
  const [first, second] = keys as [Uint8Array, Uint8Array];
  const uncompressed = PublicKey.fromBytes(second).toBytes(false).subarray(0, 48);
  await expect(flat.addAll([{ pubkey: first }, { pubkey: uncompressed }])).rejects.toThrow("of validator 1 is not a");
  await expect(flat.addAll([{ pubkey: first }], AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  expect(flat.size).toBe(0);
  expect(flat.get(0)).toBeUndefined();
});

it("accepts the point at infinity", async () => {
  const infinity = aggregatePublicKeys([PublicKey.fromBytes(keys[0]!), PublicKey.fromBytes(keys[1]!)]).toBytes();
  const [flat, compressed] = [new FlatPubkeys(), new FlatPubkeys()];
  flat.set(0, infinity);
  await compressed.addAll([{ pubkey: infinity }]);
  for (const pubkeys of [flat, compressed]) {
    expect(pubkeys.getIndex(infinity)).toBe(0);
    expect(pubkeys.getOrThrow(0).toBytes()).toEqual(infinity);
  }
});
