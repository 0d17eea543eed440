import { describe, expect, it } from "vitest";
import { DEFAULT_CHAIN_SETTINGS as settings } from "../settings.ts";
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
    const graffiti = new Graffiti({ settings });
    expect(Buffer.from(graffiti.get()).toString("utf8").replace(/\0+$/, "")).toBe("Fanal");
    graffiti.set(parseGraffiti("mine")!);
    expect(graffiti.get()).toEqual(parseGraffiti("mine"));
  });

  const GETH = { code: "GE", name: "Geth", version: "1.16.0", commit: "0x168d6ab1" };
  const textOf = (graffiti: Graffiti) => Buffer.from(graffiti.get()).toString("utf8").replace(/\0+$/, "");
  const named: [chosen: string | undefined, shown: RegExp][] = [
    [undefined, /^GE168dFA[0-9a-f]{4}$/],
    ["", /^GE168dFA[0-9a-f]{4}$/],
    ["mine", /^mine GE168dFA[0-9a-f]{4}$/],
    ["nineteen bytes long", /^nineteen bytes long GE168dFA[0-9a-f]{4}$/],
    ["twenty bytes of text", /^twenty bytes of text GE16FA[0-9a-f]{2}$/],
    ["é".repeat(12), /^é{12} GEFA$/],
    ["x".repeat(27), /^x{27} GEFA$/],
    ["x".repeat(28), /^x{28}$/],
    ["🔦".repeat(8), /^(🔦){8}$/],
  ];
  it.each(named)("appends both client codes to %j if they fit", (chosen, shown) => {
    const bytes = chosen === undefined ? undefined : parseGraffiti(chosen)!;
    const graffiti = new Graffiti({ settings: { ...settings, graffiti: bytes }, engine: { clientVersion: GETH } });
    expect(textOf(graffiti)).toMatch(shown);
  });

  it("appends codes once the execution client is known, unless disabled or set explicitly", () => {
    const engine: { clientVersion: typeof GETH | null } = { clientVersion: null };
    const graffiti = new Graffiti({ settings, engine });
    expect(textOf(graffiti)).toBe("Fanal");
    engine.clientVersion = GETH;
    expect(textOf(graffiti)).toMatch(/^GE/);
    graffiti.set(parseGraffiti("exactly this")!);
    expect(textOf(graffiti)).toBe("exactly this");
    const plain = { graffiti: undefined, graffitiCodes: false };
    expect(textOf(new Graffiti({ settings: plain, engine }))).toBe("Fanal");
    expect(textOf(new Graffiti({ settings: { ...plain, graffiti: parseGraffiti("mine")! }, engine }))).toBe("mine");
  });
});
