import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { History, historyFile, MAX_LINES } from "./history.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fanal-history-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("console history", () => {
  it("persists, readable by its owner only, without lines that start with a blank", () => {
    const file = historyFile({ XDG_STATE_HOME: folder });
    const first = new History(file);
    const atTheSameTime = new History(file);
    expect(first.lines).toEqual([]);
    first.add("getChainHead ");
    atTheSameTime.add("getNodeVersion");
    first.add(" setGraffiti secret");
    first.add("");
    first.add(`getX ${"a".repeat(20_000)}`);
    expect(new History(file).lines).toEqual(["getChainHead", "getNodeVersion"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "fanal")).mode & 0o777).toBe(0o700);
  });

  it("is bounded, and restricted to its owner", () => {
    const file = join(folder, "long");
    const lines = Array.from({ length: MAX_LINES + 5 }, (_, index) => `getX ${index}`);
    writeFileSync(file, lines.join("\n"), { mode: 0o644 });
    expect(new History(file).lines).toEqual(lines.slice(5));
    expect(readFileSync(file, "utf8")).toBe(`${lines.slice(5).join("\n")}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is optional", () => {
    writeFileSync(join(folder, "file"), "");
    const history = new History(join(folder, "file", "history"));
    history.add("getX");
    expect(history.lines).toEqual([]);
  });

  it("is in the user's state directory", () => {
    const usual = join(homedir(), ".local", "state", "fanal", "console-history");
    expect(historyFile({})).toBe(usual);
    expect(historyFile({ XDG_STATE_HOME: "relative" })).toBe(usual);
  });
});
