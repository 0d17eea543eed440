import { describe, expect, it } from "vitest";
import { parseGraffiti } from "./graffiti.ts";

const hex = (text: string) => Buffer.from(parseGraffiti(text)).toString("hex");

describe("graffiti", () => {
  const accepted: [text: string, start: string][] = [
    ["fanal", "66616e616c"],
    ["0xDEADbeef", "deadbeef"],
    ["0x", ""],
    ["", ""],
    ["é🔦", "c3a9f09f94a6"],
    [`0x${"ab".repeat(32)}`, "ab".repeat(32)],
    ["🔦".repeat(8), "f09f94a6".repeat(8)],
  ];
  for (const [text, start] of accepted) {
    it(`takes ${JSON.stringify(text)}`, () => expect(hex(text)).toBe(start.padEnd(64, "0")));
  }

  it("refuses more than 32 bytes, of text counted as UTF-8", () => {
    expect(() => parseGraffiti(`${"🔦".repeat(8)}x`)).toThrow("at most 32 bytes, and it is 33");
    expect(() => parseGraffiti(`0x${"00".repeat(33)}`)).toThrow("at most 32 bytes, and it is 33");
  });

  it("refuses hex that is none", () => {
    for (const text of ["0xabc", "0xzz", "0x12 "])
      expect(() => parseGraffiti(text)).toThrow("even number of hex digits");
  });
});
