import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipSuite } from "../../../test/support/suite/skip-suite.ts";
import { methods } from "../../api/method-groups.ts";
import { parseCommandLine } from "../flags/command-line.ts";
import { FIRST_COMMAND_NAMES } from "../flags/commands.ts";
import { completionCommands } from "./candidates.ts";
import { complete } from "./complete.ts";
import { COMPLETION_SCRIPTS } from "./scripts.ts";
import { readShell, SHELLS, type Shell } from "./shells.ts";

/** Returns the reason why a shell cannot be tested, or undefined if it can. */
function missingShell(shell: Shell): string | undefined {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0 ? undefined : `the shell ${shell} is not installed`;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fanal-completion-"));
  mkdirSync(join(folder, "a network"));
  writeFileSync(join(folder, "a file.json"), "");
  for (const shell of SHELLS) writeFileSync(join(folder, `fanal.${shell}`), COMPLETION_SCRIPTS[shell]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("candidates", () => {
  const commands = completionCommands();

  it("are accepted by the command line", () => {
    for (const { name, flags } of commands) {
      const isCommon = (written: string) => ["-h", "--help", "-V", "--version"].includes(written);
      for (const { written } of flags) {
        if (isCommon(written)) expect(parseCommandLine([name, written], "1").kind, `${name} ${written}`).toBe("print");
      }
      const own = flags.filter(({ written }) => !isCommon(written));
      const words = own.flatMap(({ written, value }) => (value ? [written, "x"] : [written]));
      if (words.length > 0) expect(parseCommandLine([name, ...words], "1").kind, name).toBe("run");
    }
  });

  it("include every command and help", () => {
    expect(commands.map(({ name }) => name)).toEqual([...FIRST_COMMAND_NAMES, "help"]);
  });
});

/** Returns the completions for the last word, including the kind of paths that complete it. */
async function offered(...words: string[]): Promise<{ words: string[]; paths: string }> {
  const [paths = "", ...lines] = (await complete(words)).trimEnd().split("\n");
  return { words: lines.map((line) => line.split("\t")[0]!), paths };
}
const offeredWords = async (...words: string[]) => (await offered(...words)).words;

describe("completion", () => {
  it("offers the commands", async () => {
    expect(await offeredWords("")).toEqual(expect.arrayContaining([...FIRST_COMMAND_NAMES, "help", "--version"]));
    expect(await offeredWords("d")).toEqual(["dev", "doctor", "db"]);
    expect(await offeredWords("help", "me")).toEqual(["methods"]);
  });

  it("describes commands, flags and methods", async () => {
    expect(await complete(["compl"])).toBe(
      "none\ncompletion\tPrint a shell completion script for commands, flags and methods\n",
    );
    expect(await complete(["dev", "--no-rest"])).toContain("\n--no-rest\tSwitch --rest off\n");
    expect(await complete(["call", "getChainHead"])).toMatch(/^none\ngetChainHead\t\w.*\.\n$/);
  });

  it("offers the flags of the command", async () => {
    expect(await offeredWords("dev", "--slot")).toEqual(["--slot-seconds"]);
    expect(await offeredWords("node", "--slot")).toEqual([]);
    expect(await offeredWords("dev", "--rpc", "--no-res")).toContain("--no-rest");
    expect(await offeredWords("call", "getX", "-")).toEqual(
      expect.arrayContaining(["--url", "--json", "-h", "--help"]),
    );
    expect(await offeredWords("unknown", "-")).toEqual([]);
  });

  it("offers the values of a flag, after a blank and after =", async () => {
    const forks = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu", "gloas"];
    expect(await offeredWords("dev", "--fork", "")).toEqual(forks);
    expect(await offeredWords("dev", "--fork", "=", "al")).toEqual(["altair"]);
    expect(await offeredWords("dev", "--fork=al")).toEqual(["--fork=altair"]);
    expect(await offeredWords("dev", "--preset", "=")).toEqual(["minimal", "mainnet"]);
    expect(await offeredWords("dev", "--fork-at", "al")).toEqual(["altair="]);
    expect(await offeredWords("node", "--log-level", "W")).toEqual(["WARN"]);
    expect(await offeredWords("dev", "--rpc-port", "")).toEqual([]);
  });

  it("offers files or directories for flags that take them", async () => {
    expect(await offered("dev", "--config-file", "a ")).toEqual({ words: [], paths: "files" });
    expect(await offered("dev", "--data-dir", "a ")).toEqual({ words: [], paths: "directories" });
    expect(await offered("node", "--network", "")).toEqual({
      words: expect.arrayContaining(["mainnet", "hoodi"]),
      paths: "directories",
    });
    expect(await offered("db", "export", "--data-dir", "x", "a f")).toEqual({ words: [], paths: "files" });
  });

  it("offers methods for the first operand only, before and after flags", async () => {
    const names = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(await offeredWords("call", "")).toEqual(names);
    expect(await offeredWords("call", "--json", "--url", "http://a", "getChainH")).toEqual(["getChainHead"]);
    expect(await offeredWords("call", "--url", "=", "http://a", "getChainH")).toEqual(["getChainHead"]);
    expect(await offeredWords("call", "getChainHead", "getChainH")).toEqual([]);
    expect(await offeredWords("methods", "rpc.")).toEqual(["rpc.discover"]);
  });
});

const PROGRAM = `'${process.execPath}' '${join(import.meta.dirname, "../../../bin/fanal.js")}'`;

/** Returns bash's completions for the last word. */
function offeredByBash(...words: string[]): string[] {
  const line = ["fanal", ...words].map((word) => `'${word}'`).join(" ");
  const completion = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _fanal; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const commands = `fanal() { ${PROGRAM} "$@"; }; source ./fanal.bash; ${completion}`;
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-uc", commands], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((word) => word !== "");
}

describe("bash", () => {
  skipSuite(missingShell("bash"));

  it("offers words and paths", () => {
    expect(offeredByBash("d")).toEqual(["dev", "doctor", "db"]);
    expect(offeredByBash("dev", "--fork", "=", "al")).toEqual(["altair"]);
    expect(offeredByBash("dev", "--preset", "=")).toEqual(["minimal", "mainnet"]);
    expect(offeredByBash("dev", "--rpc-port", "")).toEqual([]);
    expect(offeredByBash("dev", "--config-file", "a ").toSorted()).toEqual(["a file.json", "a network"]);
    expect(offeredByBash("node", "--network", "")).toEqual(expect.arrayContaining(["mainnet", "hoodi", "a network"]));
    expect(offeredByBash("dev", "--data-dir", "a ")).toEqual(["a network"]);
  });
});

for (const shell of SHELLS) {
  it(`${shell} parses its script`, (context) => {
    const missing = missingShell(shell);
    if (missing !== undefined) context.skip(missing);
    const { status, stderr } = spawnSync(shell, ["-n", `fanal.${shell}`], { cwd: folder, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
}

describe("fish", () => {
  skipSuite(missingShell("fish"));

  it("offers commands, flags, values and methods", () => {
    const offeredByFish = (line: string) => {
      const commands = `function fanal; ${PROGRAM} $argv; end; source fanal.fish; complete -C '${line}'`;
      const { stdout } = spawnSync("fish", ["--no-config", "-c", commands], { cwd: folder, encoding: "utf8" });
      return stdout.split("\n").map((offer) => offer.split("\t")[0]);
    };
    expect(offeredByFish("fanal met")).toContain("methods");
    expect(offeredByFish("fanal dev --slot")).toContain("--slot-seconds");
    expect(offeredByFish("fanal dev --fork al")).toContain("altair");
    expect(offeredByFish("fanal call --url http://a getChainH")).toContain("getChainHead");
  });
});

describe("shell name", () => {
  it("must be a supported shell", () => {
    expect(readShell(["zsh"])).toBe("zsh");
    expect(() => readShell([])).toThrow("Missing shell. Give one of bash, zsh, fish.");
    expect(() => readShell(["tcsh"])).toThrow(/Unknown shell "tcsh"\. Give one of bash, zsh, fish\.$/);
    expect(() => readShell(["fish", "bash"])).toThrow('Unexpected argument "bash".');
  });
});
