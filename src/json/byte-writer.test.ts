import fc from "fast-check";
import { expect, it } from "vitest";
import { ByteWriter, constant } from "./byte-writer.ts";

function written(write: (writer: ByteWriter) => void): string {
  const writer = new ByteWriter(Buffer.alloc(4096));
  writer.byte(0x78);
  write(writer);
  return writer.written.toString("latin1").slice(1);
}

it("writes every safe integer in decimal", () => {
  const edges = [0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999_999, 1e8, 1e12, 1e16 - 1, Number.MAX_SAFE_INTEGER];
  for (const value of edges.filter(Number.isSafeInteger)) expect(written((w) => w.uint(value))).toBe(String(value));
  fc.assert(fc.property(fc.maxSafeNat(), (value) => written((w) => w.uint(value)) === String(value)));
});

it("writes uint64 values from signed or unsigned halves", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (value) => {
      const [lower, upper] = [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
      return written((w) => w.uint64(lower, upper)) === String(value);
    }),
  );
  expect(written((w) => w.uint64(-1, -1))).toBe("18446744073709551615");
  expect(written((w) => w.uint(Number.POSITIVE_INFINITY))).toBe("18446744073709551615");
});

it("writes bytes as hex digits from any offset and of any length", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 99 }), fc.nat(10), (bytes, start) => {
      const length = Math.max(0, bytes.length - start);
      return written((w) => w.hex(bytes, start, length)) === Buffer.from(bytes.subarray(start)).toString("hex");
    }),
  );
});

it("writes consecutive constants of any length", () => {
  const texts = ["a", "bc", "def", '{"k":', '"value"'];
  const text = written((writer) => {
    for (const each of texts) writer.constant(constant(each));
    writer.text("}");
  });
  expect(text).toBe(`${texts.join("")}}`);
});
