import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StartupError } from "../exit.ts";
import { paramsText, paramTexts } from "./params.ts";

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

describe("call parameters", () => {
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
    // Parsing this as a JavaScript number would round it.
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

  it("reads payloads from files and standard input, with numbers unchanged", async () => {
    expect(await texts(["@exit.json", "-", "head"], "[1e400]")).toEqual([
      '{ "epoch": 18446744073709551615 }\n',
      "[1e400]",
      '"head"',
    ]);
  });

  it("builds a list by position and an object by name", async () => {
    const textOf = (...written: string[]) =>
      paramsText(written, { workingDirectory: folder, readInput: async () => Buffer.from("[1]") });
    expect(await textOf()).toBe("[]");
    expect(await textOf("head", "7", '"a=b"', "0x=1", "=")).toBe('["head",7,"a=b","0x=1","="]');
    expect(await textOf("until=finalized", "limit=100", "state_id=", "a1=b=c", "list=-", "exit=@exit.json")).toBe(
      '{"until":"finalized","limit":100,"state_id":"","a1":"b=c","list":[1],"exit":{ "epoch": 18446744073709551615 }\n}',
    );
    await expect(textOf("head", "limit=1")).rejects.toThrow(
      `Parameters must be given all by name or all by position, but only limit has a name. For the string limit=1, write '"limit=1"'.`,
    );
    await expect(textOf("limit=1", "limit=2")).rejects.toThrow("The parameter limit is given twice.");
  });

  const refused: [written: string[], complaint: RegExp][] = [
    [
      ["@nothing.json"],
      /^The file of the parameter @nothing\.json cannot be read: ENOENT.*write '"@nothing\.json"'\.$/,
    ],
    [["@broken.json"], /^Invalid JSON in @broken\.json: .+\.$/],
    [["@empty.json"], /^Invalid JSON in @empty\.json: it is empty\.$/],
    [["-"], /^Invalid JSON in standard input: it is empty\.$/],
    [["-", "-"], /^Only one parameter can be "-"/],
  ];
  it.each(refused)("rejects %j with one sentence", async (written, complaint) => {
    const refusal = texts(written);
    await expect(refusal).rejects.toThrow(complaint);
    await expect(refusal).rejects.toBeInstanceOf(StartupError);
    await expect(refusal).rejects.toMatchObject({ exitCode: 2 });
  });
});
