import { existsSync } from "node:fs";
import { mkdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PublicKey } from "@chainsafe/blst";
import { interopSecretKeys } from "@lodestar/state-transition";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { PubkeyFile } from "../../db/pubkey-file.ts";
import { Pubkeys } from "./pubkeys.ts";

const MANY = 8;
const keys = interopSecretKeys(4 * MANY).map((secretKey) => secretKey.toPublicKey().toBytes());
const indicesIn = (pubkeys: Pubkeys) => [0, 1, 2].map((n) => pubkeys.getIndex(keys[n]!));
const validatorsWith = (pubkeys: readonly Uint8Array[]) => ({
  length: pubkeys.length,
  getAllReadonlyValues: () => pubkeys.map((pubkey) => ({ pubkey })),
});
const uncompressed = (pubkeys: readonly Uint8Array[]) =>
  Buffer.concat(pubkeys.map((pubkey) => PublicKey.fromBytes(pubkey).toBytes(false)));

function requireKeys(pubkeys: Pubkeys, registered: readonly Uint8Array[]): void {
  expect(pubkeys.size).toBe(registered.length);
  registered.forEach((key, index) => {
    expect(pubkeys.getIndex(key)).toBe(index);
    expect(pubkeys.getOrThrow(index).toBytes()).toEqual(key);
  });
}

function withoutFile() {
  return new Pubkeys({ logger: createRecordingLogger() });
}

/** Successive starts that share a file. */
async function fileScene() {
  const directory = removableDirectory();
  onTestFinished(() => directory.remove());
  const path = join(directory.path, "pubkeys");
  const open = (signal?: AbortSignal) => {
    const logger = createRecordingLogger();
    const pubkeys = new Pubkeys({ logger, file: new PubkeyFile(path), manyKeys: MANY, signal });
    return { pubkeys, records: logger.records };
  };
  /** Loads the keys and returns the log. Checks the keys before and after the background decompression. */
  const learn = async (registered = keys) => {
    const { pubkeys, records } = open();
    await pubkeys.learn(validatorsWith(registered));
    requireKeys(pubkeys, registered);
    await pubkeys.idle();
    requireKeys(pubkeys, registered);
    expect(Buffer.concat([...pubkeys.memory.pieces(0, pubkeys.size)])).toEqual(uncompressed(registered));
    await pubkeys.close();
    // A slow machine also logs progress.
    const logged = records.filter(({ message }) => !message.startsWith("Loading "));
    return logged.map(({ level, message, fields }) => [level, message, fields?.fromFile ?? fields?.replaced]);
  };
  return { path, open, learn };
}

const learned = (fromFile: number) => ["info", "Loaded validator public keys", fromFile];
const replaced = (count: number) => ["notice", "Public key cache did not match the validators", count];

it("learns new keys at indices freed by a restore", () => {
  const pubkeys = withoutFile();
  pubkeys.set(0, keys[0]!);
  const snapshot = pubkeys.capture();
  pubkeys.set(1, keys[1]!);
  pubkeys.set(2, keys[2]!);
  expect(indicesIn(pubkeys)).toEqual([0, 1, 2]);
  pubkeys.restore(snapshot);
  expect(pubkeys.size).toBe(1);
  expect(indicesIn(pubkeys)).toEqual([0, null, null]);
  expect(pubkeys.get(1)).toBeUndefined();
  expect(() => pubkeys.getOrThrow(2)).toThrow("Unknown validator 2");

  pubkeys.set(1, keys[2]!);
  expect(indicesIn(pubkeys)).toEqual([0, null, 1]);
  expect(pubkeys.getOrThrow(1).toBytes()).toEqual(keys[2]);
});

it("adopts another instance and follows its additions", () => {
  const [pubkeys, others] = [withoutFile(), withoutFile()];
  pubkeys.set(0, keys[0]!);
  pubkeys.set(1, keys[1]!);
  others.set(0, keys[0]!);
  const own = pubkeys.capture();
  pubkeys.restore(others.capture());
  others.set(1, keys[2]!);
  expect(indicesIn(pubkeys)).toEqual([0, null, 1]);
  pubkeys.restore(own);
  expect(indicesIn(pubkeys)).toEqual([0, 1, null]);
});

it("caches many keys in a private file and verifies its contents", async () => {
  const { path, open, learn } = await fileScene();
  const count = keys.length;
  const { pubkeys: few } = open();
  await few.learn(validatorsWith(keys.slice(0, MANY - 1)));
  expect(few.size).toBe(0);
  few.set(0, keys[0]!);
  await few.close();
  expect(existsSync(path)).toBe(false);

  expect(await learn()).toEqual([learned(0)]);
  const right = uncompressed(keys);
  expect(await readFile(path)).toEqual(right);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await learn()).toEqual([learned(count)]);

  const damage = async (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(right);
    change(bytes);
    await writeFile(path, bytes);
  };
  const negative = (bytes: Buffer) => {
    const compressed = PublicKey.fromBytes(bytes.subarray(0, 96)).toBytes();
    compressed[0]! ^= 0x20;
    bytes.set(PublicKey.fromBytes(compressed).toBytes(false));
  };
  const damages: [number, (bytes: Buffer) => void][] = [
    [1, (bytes) => bytes.writeUInt8(bytes[20]! ^ 1, 20)],
    [1, (bytes) => bytes.writeUInt8(bytes[96 + 95]! ^ 1, 96 + 95)],
    [1, negative],
    [2, (bytes) => bytes.fill(1, 96, 3 * 96)],
    [count, (bytes) => bytes.copyWithin(0, 1)],
    [count, (bytes) => bytes.fill(0xff)],
  ];
  for (const [bad, change] of damages) {
    await damage(change);
    expect((await learn()).slice(0, 1)).toEqual([replaced(bad)]);
    expect(await readFile(path)).toEqual(right);
  }
  // Ranges left unwritten by an early exit are not trusted.
  await damage((bytes) => bytes.fill(0, 96, 3 * 96));
  expect(await learn()).toEqual([learned(count - 2)]);
  await truncate(path, 3 * 96);
  expect(await learn()).toEqual([learned(3)]);
  expect(await readFile(path)).toEqual(right);

  const others = keys.toReversed().slice(0, MANY);
  expect(await learn(others)).toEqual([replaced(MANY), learned(0)]);
  expect((await readFile(path)).subarray(0, MANY * 96)).toEqual(uncompressed(others));
});

it("adds later keys to the file, also after a restore", async () => {
  const { path, open, learn } = await fileScene();
  const { pubkeys } = open();
  await pubkeys.learn(validatorsWith(keys.slice(0, MANY)));
  const snapshot = pubkeys.capture();
  keys.slice(MANY).forEach((key, i) => {
    pubkeys.set(MANY + i, key);
  });
  pubkeys.restore(snapshot);
  const later = keys.slice(MANY).toReversed();
  later.forEach((key, i) => {
    pubkeys.set(MANY + i, key);
  });
  await pubkeys.close();
  const registered = [...keys.slice(0, MANY), ...later];
  expect(await readFile(path)).toEqual(uncompressed(registered));
  expect(await learn(registered)).toEqual([learned(registered.length)]);
});

it("works without an unusable file and warns once", async () => {
  const { path, learn } = await fileScene();
  await mkdir(path);
  const unusable = ["warn", "Public key cache unusable", undefined];
  expect(await learn()).toEqual([unusable, learned(0)]);
});

it("reports an invalid key, at once or in the background, and stops when closed", async () => {
  const { open } = await fileScene();
  const { pubkeys } = open();
  const withFifth = (key: Uint8Array) => validatorsWith(keys.with(5, key));
  const notOnCurve = / of validator 5 is not a point of the curve$/;
  await expect(pubkeys.learn(withFifth(new Uint8Array(48)))).rejects.toThrow(notOnCurve);
  expect(pubkeys.size).toBe(0);
  await pubkeys.learn(withFifth(new Uint8Array(48).fill(0x9f)));
  expect(() => pubkeys.get(5)).toThrow(notOnCurve);
  expect(await pubkeys.failed).toEqual(expect.objectContaining({ message: expect.stringMatching(notOnCurve) }));
  expect(pubkeys.getOrThrow(6).toBytes()).toEqual(keys[6]);
  await pubkeys.close();

  const aborted = open(AbortSignal.abort(new Error("stopped")));
  await expect(aborted.pubkeys.learn(validatorsWith(keys))).rejects.toThrow("stopped");
});

it("adds and restores keys during decompression, and stops with what is done", async () => {
  const { path, open, learn } = await fileScene();
  const { pubkeys, records } = open();
  const [first, later] = [keys.slice(0, MANY), keys.slice(MANY)];
  await pubkeys.learn(validatorsWith(first));
  const snapshot = pubkeys.capture();
  later.toReversed().forEach((key, i) => {
    pubkeys.set(MANY + i, key);
  });
  pubkeys.restore(snapshot);
  later.forEach((key, i) => {
    pubkeys.set(MANY + i, key);
  });
  requireKeys(pubkeys, keys);
  await pubkeys.close();
  requireKeys(pubkeys, keys);
  expect(await readFile(path)).toEqual(uncompressed(keys));
  expect(records.map(({ message }) => message)).not.toContain("Loaded validator public keys");
  expect(await learn()).toEqual([learned(keys.length)]);
});

it("continues decompression of an adopted instance", async () => {
  const { path, open } = await fileScene();
  const [{ pubkeys }, { pubkeys: others }] = [open(), open()];
  await pubkeys.learn(validatorsWith(keys.slice(0, MANY)));
  const closing = others.close();
  await others.learn(validatorsWith(keys));
  pubkeys.restore(others.capture());
  await closing;
  await pubkeys.idle();
  await pubkeys.close();
  expect(Buffer.concat([...pubkeys.memory.pieces(0, keys.length)])).toEqual(uncompressed(keys));
  expect(await readFile(path)).toEqual(uncompressed(keys));
});
