import { expect, it } from "vitest";
import { toHex } from "../../execution/payload.ts";
import type { BloomedBlock } from "./block-archive.ts";
import { BloomIndex } from "./bloom-index.ts";

/** Fake hash function: the "hash" of a header is the header itself. */
const keccak = (bytes: Uint8Array): Uint8Array => bytes;
const hashOf = (number: number, branch: number): Uint8Array => Uint8Array.of(branch, number >> 8, number);
const hexOf = (number: number, branch = 0): string => toHex(hashOf(number, branch));

/** Opens an archive in which every tenth block has logs, and records the ranges read from it. */
function openArchive(length: number) {
  const branches = Array.from({ length: length + 1 }, () => 0);
  const missing = new Set<number>();
  const read: [from: number, to: number][] = [];
  let lookUps = 0;
  const blockAt = (number: number): BloomedBlock => ({
    number,
    parentHash: hashOf(number - 1, branches[number - 1]!),
    logsBloom: Uint8Array.of(number % 10 === 0 ? 1 : 0),
    header: hashOf(number, branches[number]!),
  });
  const archive = {
    has: async (hash: string) => {
      lookUps++;
      return branches.some((branch, number) => !missing.has(number) && hexOf(number, branch) === hash);
    },
    blooms: async (from: number, to: number) => {
      read.push([from, to]);
      const numbers = Array.from({ length: Math.min(to, branches.length - 1) - from + 1 }, (_, index) => from + index);
      return numbers.filter((number) => !missing.has(number)).map(blockAt);
    },
  };
  const index = new BloomIndex(archive, keccak);
  /** Returns the hashes found, the ranges read to find them, and the number of look-ups. */
  const search = async (from: number, to: number, recent = "") => {
    read.length = 0;
    lookUps = 0;
    const found = (await Array.fromAsync(index.search(from, to, (_, hash) => hash === recent))).flat();
    return { found: found.map(({ hash }) => hash), read: [...read], lookUps };
  };
  /** Replaces all blocks from the given number onwards with blocks from another branch. */
  const replace = (from: number, branch: number) => branches.fill(branch, from);
  return { search, replace, missing, branches };
}

const tens = (from: number, to: number, branch = 0) =>
  Array.from({ length: (to - from) / 10 + 1 }, (_, index) => hexOf(from + 10 * index, branch));

it("reads only the sections of a range, and each once", async () => {
  const { search } = openArchive(1000);
  expect(await search(125, 300)).toEqual({
    found: tens(130, 300),
    read: [
      [1, 128],
      [129, 256],
      [257, 384],
    ],
    lookUps: 0,
  });
  expect(await search(1, 384)).toEqual({ found: tens(10, 380), read: [], lookUps: 1 });
  const all = await search(1, 1000);
  expect(all.found).toEqual(tens(10, 1000));
  expect(all.read.map(([from]) => from)).toEqual([385, 513, 641, 769, 897]);
  expect(await search(1, 1000)).toEqual({ found: tens(10, 1000), read: [], lookUps: 1 });
});

it("looks nothing up if the last block is recent", async () => {
  const { search } = openArchive(300);
  await search(1, 300);
  expect(await search(1, 300, hexOf(300))).toEqual({ found: tens(10, 300), read: [], lookUps: 0 });
  expect(await search(1, 300, hexOf(300, 1))).toMatchObject({ read: [], lookUps: 1 });
});

it("reads the last section again when the archive has grown", async () => {
  const { search, branches } = openArchive(200);
  await search(1, 200);
  branches.push(...Array.from({ length: 100 }, () => 0));
  expect(await search(1, 300)).toEqual({
    found: tens(10, 300),
    read: [
      [129, 256],
      [257, 384],
    ],
    lookUps: 1,
  });
  expect((await search(1, 300)).read).toEqual([]);
});

it("reads sections again whose blocks were replaced, also if only some of them are searched", async () => {
  const { search, replace } = openArchive(600);
  await search(1, 600);
  replace(300, 1);
  expect((await search(1, 256)).read).toEqual([]);
  expect((await search(260, 384)).found).toEqual([...tens(260, 290), ...tens(300, 380, 1)]);
  const { found, read } = await search(1, 600);
  expect(found).toEqual([...tens(10, 290), ...tens(300, 600, 1)]);
  expect(read).toEqual([
    [385, 512],
    [513, 640],
  ]);
});

it("finds the blocks around a missing one, which it looks for again", async () => {
  const { search, missing } = openArchive(300);
  missing.add(150);
  const around = [...tens(10, 140), ...tens(160, 300)];
  expect((await search(1, 300)).found).toEqual(around);
  expect(await search(1, 300)).toMatchObject({ found: around, read: [[129, 256]] });
  missing.clear();
  expect((await search(1, 300)).found).toEqual(tens(10, 300));
  expect((await search(1, 300)).read).toEqual([]);
});
