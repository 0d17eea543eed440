import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = join(import.meta.dirname, "../..");
const HEADER = "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.24;\n";

/** Attempts in one process: a failed one must not affect the next. */
const PROGRAM = `
import { compile } from "./support/compile.mts";

function attempt(file, contract) {
  try {
    const { abi, bytecode } = compile(file, contract);
    return { abi: abi.map(({ name }) => name), isCode: /^0x[0-9a-f]+$/.test(bytecode) };
  } catch (error) {
    return error.message;
  }
}
const calls = [["Broken.sol", "Broken"], ["Vault.sol", "Valt"], ["Vault.sol", "Vault"]];
console.log(JSON.stringify(calls.map((call) => attempt(...call))));
`;

it("examples/support/compile.mts resolves imports, and says what is missing", () => {
  const directory = tempDirectory();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  };
  cpSync(join(ROOT, "examples/support"), join(directory, "support"), { recursive: true });
  write("support/Broken.sol", `${HEADER}import "./Missing.sol";\ncontract Broken {}\n`);
  write(
    "support/Vault.sol",
    `${HEADER}import "@company/lib/Owned.sol";\nimport "./Pod.sol";\ncontract Vault is Owned {}\n`,
  );
  write("node_modules/@company/lib/Owned.sol", `${HEADER}import "./base/Base.sol";\ncontract Owned is Base {}\n`);
  write("node_modules/@company/lib/base/Base.sol", `${HEADER}contract Base { address public owner; }\n`);
  symlinkSync(join(ROOT, "node_modules/solc"), join(directory, "node_modules/solc"));
  symlinkSync(ROOT, join(directory, "node_modules/fanal"));
  write("main.mts", PROGRAM);

  const { stdout, stderr } = spawnSync(process.execPath, ["main.mts"], { cwd: directory, encoding: "utf8" });
  expect(stdout, stderr).not.toBe("");
  expect(JSON.parse(stdout)).toEqual([
    expect.stringMatching(/Source "Missing\.sol" not found: .*Missing\.sol is neither in .* nor in node_modules\./),
    "No contract Valt in Vault.sol. Found: Vault.",
    { abi: ["owner"], isCode: true },
  ]);
});
