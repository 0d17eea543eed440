import { describe, expect, it } from "vitest";
import { BlockHashes } from "./block-hashes.ts";

const hash = (number: number, branch = 0) => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(number, 0);
  bytes[31] = branch;
  return new Uint8Array(bytes);
};

function grown(from: BlockHashes, first: number, last: number, branch = 0): BlockHashes {
  let hashes = from;
  for (let number = first; number <= last; number++) hashes = hashes.append(hash(number, branch));
  return hashes;
}

describe("block hashes", () => {
  it("finds the last 256 and no others", () => {
    const hashes = grown(BlockHashes.of(0n, [hash(0)]), 1, 2000);
    for (const number of [2000, 1999, 1800, 1745]) expect(hashes.at(BigInt(number))).toEqual(hash(number));
    for (const number of [2001n, 1744n, 0n]) expect(hashes.at(number)).toBeUndefined();
    expect(hashes.list().map((entry) => Buffer.from(entry).readUInt32BE(0))).toEqual(
      Array.from({ length: 256 }, (_, index) => 1745 + index),
    );
  });

  it("separates branches", () => {
    const trunk = grown(BlockHashes.of(0n, [hash(0)]), 1, 300);
    const one = grown(trunk, 301, 700, 1);
    const other = grown(trunk, 301, 320, 2);
    expect(trunk.at(301n)).toBeUndefined();
    expect(one.at(500n)).toEqual(hash(500, 1));
    expect(other.at(310n)).toEqual(hash(310, 2));
    expect(other.at(300n)).toEqual(hash(300));
    expect(trunk.at(300n)).toEqual(hash(300));
  });

  it("keeps all hashes of a short chain on each of its branches", () => {
    const trunk = grown(BlockHashes.of(0n, [hash(0)]), 1, 3);
    const one = trunk.append(hash(4, 1));
    const other = grown(trunk, 4, 5, 2);
    expect(one.list()).toEqual([hash(0), hash(1), hash(2), hash(3), hash(4, 1)]);
    expect(other.list()).toEqual([hash(0), hash(1), hash(2), hash(3), hash(4, 2), hash(5, 2)]);
    expect(other.at(0n)).toEqual(hash(0));
  });

  it("keeps 256 hashes on a second branch of a long chain", () => {
    const trunk = grown(BlockHashes.of(0n, [hash(0)]), 1, 300);
    trunk.append(hash(301, 1));
    const other = trunk.append(hash(301, 2));
    expect(other.at(46n)).toEqual(hash(46));
    expect(other.at(45n)).toBeUndefined();
  });

  it("starts from a stored list", () => {
    const hashes = grown(BlockHashes.of(0n, [hash(0)]), 1, 600);
    const restored = BlockHashes.of(600n, hashes.list());
    expect(restored.append(hash(601)).at(346n)).toEqual(hash(346));
    expect(restored.at(345n)).toEqual(hash(345));
    expect(restored.at(344n)).toBeUndefined();
  });
});
