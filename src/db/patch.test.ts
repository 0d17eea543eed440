import { expect, it } from "vitest";
import { seededRandom } from "../../test/support/random/seeded-random.ts";
import { MAX_OPERATION_BYTES, PatchReader, PatchWriter, xorInto } from "./patch.ts";

const EXTREMES = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];

function applied(patch: Uint8Array, base: Uint8Array, length: number, pieceLength = patch.length): Uint8Array {
  const reader = new PatchReader(base, length);
  for (let from = 0; from < patch.length; from += pieceLength) reader.add(patch.subarray(from, from + pieceLength));
  return reader.end();
}

const bytesOf = (numbers: bigint[]) => new Uint8Array(BigUint64Array.from(numbers).buffer);

it("integers round-trip for any base", () => {
  const pairs = EXTREMES.flatMap((before) => EXTREMES.map((after) => [before, after] as const));
  const base = bytesOf(pairs.map(([before]) => before));
  const numbers = bytesOf(pairs.map(([, after]) => after));
  const writer = new PatchWriter();
  writer.numbers(numbers, base);
  writer.numbers(numbers, undefined);
  const result = applied(writer.take(), base, 2 * numbers.length);
  expect(result).toEqual(new Uint8Array([...numbers, ...numbers]));
});

it("small differences of either sign have one non-zero byte", () => {
  const writer = new PatchWriter();
  writer.numbers(bytesOf([32_000_000_005n, 31_999_999_990n]), bytesOf([32_000_000_000n, 32_000_000_000n]));
  const patch = writer.take();
  expect(patch.filter((byte) => byte > 0)).toHaveLength(2 + 2);
});

it("random operations round-trip in arbitrary chunks", () => {
  const random = seededRandom(15);
  const upTo = (limit: number) => Math.floor(random() * limit);
  const noise = (length: number) => Uint8Array.from({ length }, () => upTo(256));
  for (let run = 0; run < 50; run++) {
    const base = noise(upTo(5000));
    const writer = new PatchWriter();
    const parts: Uint8Array[] = [];
    let at = 0;
    for (let step = 0; step < 30; step++) {
      const length = 8 * upTo(40);
      const fits = at + length <= base.length;
      const operation = fits ? upTo(5) : 0;
      const old = base.subarray(at, at + length);
      const fresh = noise(length);
      if (operation === 0) writer.raw(length).set(fresh);
      if (operation === 1) writer.copy(length);
      if (operation === 2) writer.skip(length);
      if (operation === 3) {
        const combined = writer.xor(length);
        combined.set(fresh);
        xorInto(combined, old);
      }
      if (operation === 4) writer.numbers(fresh, old);
      if (operation === 1) parts.push(old);
      else if (operation !== 2) parts.push(fresh);
      if (operation !== 0) at += length;
    }
    const expected = new Uint8Array(Buffer.concat(parts));
    const patch = writer.take();
    for (const pieceLength of [1, 7, 4096]) {
      expect(applied(patch, base, expected.length, pieceLength)).toEqual(expected);
    }
  }
});

it("rejects invalid patches and patches of other sizes", () => {
  const writer = new PatchWriter();
  writer.raw(3).set([1, 2, 3]);
  const patch = writer.take();
  expect(() => applied(patch.subarray(0, -1), new Uint8Array(), 3)).toThrow("truncated");
  expect(() => applied(patch, new Uint8Array(), 4)).toThrow("truncated");
  expect(() => applied(patch, new Uint8Array(), 2)).toThrow("too long");
  expect(() => applied(Uint8Array.of(9, 0), new Uint8Array(), 0)).toThrow("operation 9");
  expect(() => applied(new Uint8Array(20).fill(0xff), new Uint8Array(), 9)).toThrow("invalid length");
  expect(() => applied(Uint8Array.of(4, 7, 0, 0, 0, 0, 0, 0, 0), new Uint8Array(7), 7)).toThrow("incomplete integer");
  expect(() => writer.raw(MAX_OPERATION_BYTES + 1)).toThrow("limited to");
  writer.copy(2 ** 40);
  expect(() => applied(writer.take(), new Uint8Array(), 100)).toThrow("too long");
});
