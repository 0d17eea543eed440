import { describe, expect, it } from "vitest";
import {
  asList,
  bytesToBigint,
  decode,
  encodeBytes,
  encodedListSize,
  encodeList,
  encodeNumber,
  RlpError,
} from "./rlp.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

describe("RLP", () => {
  it.each([
    ["", "80"],
    ["00", "00"],
    ["7f", "7f"],
    ["80", "8180"],
    ["11".repeat(55), `b7${"11".repeat(55)}`],
    ["11".repeat(56), `b838${"11".repeat(56)}`],
    ["11".repeat(256), `b90100${"11".repeat(256)}`],
  ])("encodes and decodes the bytes %s", (plain, encoded) => {
    expect(hex(encodeBytes(bytes(plain)))).toBe(encoded);
    expect(decode(bytes(encoded))).toEqual(bytes(plain));
  });

  it("encodes and decodes nested lists", () => {
    const inner = encodeList([encodeBytes(bytes("c0ffee")), encodeList([])]);
    const long = encodeBytes(new Uint8Array(70_000).fill(3));
    const encoded = encodeList([inner, long, encodeNumber(1024n)]);
    expect(encoded.length).toBe(encodedListSize(inner.length + long.length + 3));
    const [first, second, third] = asList(decode(encoded));
    expect(first).toEqual([bytes("c0ffee"), []]);
    expect((second as Uint8Array).length).toBe(70_000);
    expect(bytesToBigint(third as Uint8Array)).toBe(1024n);
  });

  it.each([
    ["8100", "a prefix before a single byte"],
    ["b801ff", "a length in a long form"],
    ["83c0", "a string that is too short"],
    ["c3c0", "a list that is too short"],
    ["0102", "bytes after the end"],
    ["", "nothing"],
  ])("refuses %s: %s", (encoded) => {
    expect(() => decode(bytes(encoded))).toThrow(RlpError);
  });
});
