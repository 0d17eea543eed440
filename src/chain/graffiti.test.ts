import { describe, expect, it } from "vitest";
import { Graffiti, parseGraffiti } from "./graffiti.ts";

const hex = (text: string) => {
  const bytes = parseGraffiti(text);
  return bytes && Buffer.from(bytes).toString("hex");
};

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

  const refused = [`${"🔦".repeat(8)}x`, `0x${"00".repeat(33)}`, "0xabc", "0xzz", "0x12 ", "x".repeat(1000)];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text).slice(0, 40)}`, () => expect(hex(text)).toBeUndefined());
  }

  it("has a default that can be replaced", () => {
    const graffiti = new Graffiti();
    expect(Buffer.from(graffiti.get()).toString("utf8").replace(/\0+$/, "")).toBe("Fanal");
    graffiti.set(parseGraffiti("mine")!);
    expect(graffiti.get()).toEqual(parseGraffiti("mine"));
  });
});
