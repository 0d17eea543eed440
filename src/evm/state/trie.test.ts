import { createMPT, verifyMPTWithMerkleProof } from "@ethereumjs/mpt";
import { encodeRlp, getBytes, toBeArray } from "ethers";
import { beforeAll, describe, expect, it } from "vitest";
import { createEvmCrypto } from "../crypto.ts";
import {
  deleteValue,
  EMPTY_TRIE_ROOT,
  forEachValue,
  getValue,
  type Keccak,
  listRoot,
  proofOf,
  putValue,
  rootHash,
  type TrieCodec,
  type TrieNode,
} from "./trie.ts";

type Trie = TrieNode<Uint8Array> | undefined;

const hex = (bytes: Uint8Array | undefined | null) => bytes && Buffer.from(bytes).toString("hex");

function entriesOf(trie: Trie): [key: Uint8Array, value: Uint8Array][] {
  const entries: [Uint8Array, Uint8Array][] = [];
  forEachValue(trie, (key, value) => entries.push([key, value]));
  return entries;
}

/** Deterministic pseudo-random numbers. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("trie", () => {
  let keccak: Keccak;
  let codec: TrieCodec<Uint8Array>;

  beforeAll(async () => {
    keccak = (await createEvmCrypto()).keccak;
    codec = { encode: (value) => value, keccak };
  });

  /** Keys with long common prefixes, so that extensions are split and merged. */
  const randomKey = (random: (below: number) => number) =>
    new Uint8Array(4).map(() => [0x00, 0x01, 0x10, 0x11][random(4)]!);

  it("has the roots of @ethereumjs/mpt after random puts and deletions", async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const random = generator(seed);
      const reference = await createMPT();
      const model = new Map<string, string>();
      let trie: Trie;
      for (let step = 0; step < 200; step++) {
        const key = randomKey(random);
        if (random(5) < 2) {
          trie = deleteValue(trie, key);
          await reference.del(key);
          model.delete(hex(key)!);
        } else {
          const value = new Uint8Array(1 + random(40)).fill(1 + random(255));
          trie = putValue(trie, key, value);
          await reference.put(key, value);
          model.set(hex(key)!, hex(value)!);
        }
        expect(hex(getValue(trie, key))).toBe(model.get(hex(key)!));
        expect(hex(rootHash(trie, codec)), `seed ${seed}, step ${step}`).toBe(hex(reference.root()));
      }
      const entries = entriesOf(trie).map(([key, value]) => [hex(key), hex(value)]);
      expect(entries).toEqual([...model].sort());
    }
  });

  it("leaves old versions unchanged", () => {
    const random = generator(7);
    const versions: [trie: Trie, root: string][] = [];
    let trie: Trie;
    for (let step = 0; step < 100; step++) {
      trie =
        random(3) === 0 ? deleteValue(trie, randomKey(random)) : putValue(trie, randomKey(random), Uint8Array.of(step));
      versions.push([trie, hex(rootHash(trie, codec))!]);
    }
    for (const [version, root] of versions) {
      const copy = entriesOf(version).reduce<Trie>((node, [key, value]) => putValue(node, key, value), undefined);
      expect(hex(rootHash(copy, codec))).toBe(root);
    }
  });

  it("returns the same trie when a key to delete is absent", () => {
    const trie = putValue(
      putValue<Uint8Array>(undefined, Uint8Array.of(1, 2), codec.encode(Uint8Array.of(1))),
      Uint8Array.of(1, 3),
      Uint8Array.of(2),
    );
    expect(deleteValue(trie, Uint8Array.of(1, 4))).toBe(trie);
    expect(deleteValue(trie, Uint8Array.of(2, 2))).toBe(trie);
  });

  it("proves values and absence", async () => {
    const random = generator(11);
    let trie: Trie;
    for (let count = 0; count < 60; count++) {
      trie = putValue(trie, keccak(Uint8Array.of(random(100))), new Uint8Array(32).fill(1 + random(255)));
    }
    const root = rootHash(trie, codec);
    for (let index = 0; index < 100; index++) {
      const key = keccak(Uint8Array.of(index));
      const proven = await verifyMPTWithMerkleProof(await createMPT(), root, key, proofOf(trie, key, codec));
      expect(hex(proven) ?? undefined).toBe(hex(getValue(trie, key)));
    }
  });

  it("has the root of a list by index", async () => {
    const items = Array.from({ length: 300 }, (_, index) => new Uint8Array(1 + (index % 50)).fill(1 + (index % 255)));
    const reference = await createMPT();
    for (const [index, item] of items.entries()) await reference.put(getBytes(encodeRlp(toBeArray(index))), item);
    expect(hex(listRoot(items, keccak))).toBe(hex(reference.root()));
    expect(listRoot([], keccak)).toEqual(EMPTY_TRIE_ROOT);
  });
});
