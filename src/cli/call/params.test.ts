import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StartupError } from "../exit.ts";
import { paramTexts } from "./params.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fanal-call-params-"));
  writeFileSync(join(folder, "exit.json"), '\uFEFF{ "epoch": 18446744073709551615 }\n');
  writeFileSync(join(folder, "broken.json"), "{ epoch");
  writeFileSync(join(folder, "empty.json"), "\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

const texts = (written: string[], input = "") =>
  paramTexts(written, { workingDirectory: folder, readInput: async () => Buffer.from(input) });

describe("parameters of a call", () => {
  const read: [written: string, json: string][] = [
    ["head", '"head"'],
    ["0xab", '"0xab"'],
    ["", '""'],
    ['say "hi"', '"say \\"hi\\""'],
    ["NaN", '"NaN"'],
    ["0x", '"0x"'],
    ["007", '"007"'],
    ['"7"', '"7"'],
    ["7", "7"],
    ["-1.5e3", "-1.5e3"],
    // As a JavaScript number it would be another one.
    ["18446744073709551615", "18446744073709551615"],
    ["true", "true"],
    ["null", "null"],
    ['["1", 2]', '["1", 2]'],
    ['{"a":{}}', '{"a":{}}'],
    ["{a}", '"{a}"'],
  ];
  it.each(read)("reads %j as %s", async (written, json) => {
    expect(await texts([written])).toEqual([json]);
  });

  it("takes payloads from files and from standard input, each number as it is written", async () => {
    expect(await texts(["@exit.json", "-", "head"], "[1e400]")).toEqual([
      '{ "epoch": 18446744073709551615 }\n',
      "[1e400]",
      '"head"',
    ]);
  });

  const refused: [written: string[], complaint: RegExp][] = [
    [
      ["@nothing.json"],
      /^The file of the parameter @nothing\.json cannot be read: ENOENT.*write '"@nothing\.json"'\.$/,
    ],
    [["@broken.json"], /^There is no JSON in @broken\.json: .+\.$/],
    [["@empty.json"], /^There is no JSON in @empty\.json: it is empty\.$/],
    [["-"], /^There is no JSON in standard input: it is empty\.$/],
    [["-", "-"], /^Only one parameter can be "-"/],
  ];
  it.each(refused)("refuses %j in one sentence", async (written, complaint) => {
    const refusal = texts(written);
    await expect(refusal).rejects.toThrow(complaint);
    await expect(refusal).rejects.toBeInstanceOf(StartupError);
    await expect(refusal).rejects.toMatchObject({ exitCode: 2 });
  });
});
