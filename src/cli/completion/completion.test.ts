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
import { completionScript } from "./completion.ts";
import { readShell, SHELLS, type Shell } from "./shells.ts";

/** Returns why a shell cannot be tested; undefined if it can. */
function missingShell(shell: Shell): string | undefined {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0 ? undefined : `the shell ${shell} is not installed`;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fanal-completion-"));
  mkdirSync(join(folder, "a network"));
  writeFileSync(join(folder, "a file.json"), "");
  for (const shell of SHELLS) writeFileSync(join(folder, `fanal.${shell}`), completionScript(shell));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("candidates", () => {
  const commands = completionCommands(["getX"]);

  it("are accepted by the command line", () => {
    for (const { name, flags } of commands) {
      for (const { written, value } of flags) {
        const line = parseCommandLine([name, written, ...(value ? ["x"] : [])], "1");
        const isCommon = ["-h", "--help", "-V", "--version"].includes(written);
        expect(line.kind, `${name} ${written}`).toBe(isCommon ? "print" : "run");
      }
    }
  });

  it("include every command and help", () => {
    expect(commands.map(({ name }) => name)).toEqual([...FIRST_COMMAND_NAMES, "help"]);
  });
});

/** Returns bash's completions of the last word. */
function offeredByBash(...words: string[]): string[] {
  const line = ["fanal", ...words].map((word) => `'${word}'`).join(" ");
  const commands = `source ./fanal.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _fanal; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-uc", commands], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((word) => word !== "");
}

describe("bash", () => {
  skipSuite(missingShell("bash"));

  it("offers the commands", () => {
    expect(offeredByBash("")).toEqual(expect.arrayContaining([...FIRST_COMMAND_NAMES, "help", "--version"]));
    expect(offeredByBash("d")).toEqual(["dev", "doctor", "db"]);
    expect(offeredByBash("help", "me")).toEqual(["methods"]);
  });

  it("offers the flags of the command", () => {
    expect(offeredByBash("dev", "--slot")).toEqual(["--slot-seconds"]);
    expect(offeredByBash("node", "--slot")).toEqual([]);
    expect(offeredByBash("dev", "--rpc", "--no-res")).toContain("--no-rest");
    expect(offeredByBash("call", "getX", "-")).toEqual(expect.arrayContaining(["--url", "--json", "-h", "--help"]));
  });

  it("offers the values of a flag, after a blank and after =", () => {
    expect(offeredByBash("dev", "--fork", "")).toEqual([
      "phase0",
      "altair",
      "bellatrix",
      "capella",
      "deneb",
      "electra",
      "fulu",
    ]);
    expect(offeredByBash("dev", "--fork", "=", "al")).toEqual(["altair"]);
    expect(offeredByBash("dev", "--preset", "=")).toEqual(["minimal", "mainnet"]);
    expect(offeredByBash("dev", "--fork-at", "al")).toEqual(["altair="]);
    expect(offeredByBash("node", "--log-level", "W")).toEqual(["WARN"]);
    expect(offeredByBash("dev", "--rpc-port", "")).toEqual([]);
  });

  it("offers files or directories for flags that take them", () => {
    expect(offeredByBash("dev", "--config-file", "a ").toSorted()).toEqual(["a file.json", "a network"]);
    expect(offeredByBash("dev", "--data-dir", "a ")).toEqual(["a network"]);
    expect(offeredByBash("node", "--network", "")).toEqual(expect.arrayContaining(["mainnet", "hoodi", "a network"]));
    expect(offeredByBash("db", "export", "--data-dir", "x", "a f")).toEqual(["a file.json"]);
  });

  it("offers methods for the first operand only, before and after flags", () => {
    const names = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(offeredByBash("call", "")).toEqual(names);
    expect(offeredByBash("call", "--json", "--url", "http://a", "getChainH")).toEqual(["getChainHead"]);
    expect(offeredByBash("call", "--url", "=", "http://a", "getChainH")).toEqual(["getChainHead"]);
    expect(offeredByBash("call", "getChainHead", "getChainH")).toEqual([]);
    expect(offeredByBash("methods", "rpc.")).toEqual(["rpc.discover"]);
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
    const offered = (line: string) => {
      const commands = `source fanal.fish; complete -C '${line}'`;
      const { stdout } = spawnSync("fish", ["--no-config", "-c", commands], { cwd: folder, encoding: "utf8" });
      return stdout.split("\n").map((offer) => offer.split("\t")[0]);
    };
    expect(offered("fanal met")).toContain("methods");
    expect(offered("fanal dev --slot")).toContain("--slot-seconds");
    expect(offered("fanal dev --fork al")).toContain("altair");
    expect(offered("fanal call --url http://a getChainH")).toContain("getChainHead");
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
