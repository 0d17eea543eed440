import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import solc from "solc";
import { expect } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";

const execute = promisify(execFile);
const HERE = import.meta.dirname;
const MAX_OUTPUT_BYTES = 16 * 2 ** 20;
const RUN_LIMIT_MS = 240_000;
/** Time of a test that may install a tool. */
export const INSTALL_LIMIT_MS = 900_000;

/** Starts a chain whose blocks follow transactions. Returns the URL of its Ethereum JSON-RPC. */
export async function startEthPort(): Promise<string> {
  const program = await Program.dev([
    ...["--data-dir", tempDirectory(), "--validators", "16", "--warmup-epochs", "0", "--no-auto"],
    ...["--evm", "--eth-rpc", "--eth-rpc-port", "0"],
  ]);
  const [, url] = await program.untilLine(/Ethereum RPC is served at (http:\S+)/);
  return url!;
}

/** A copy of one of the sample projects, with the contract that all of them use. */
export class SampleProject {
  readonly directory = tempDirectory();
  readonly #environment: NodeJS.ProcessEnv;

  constructor(name: "foundry" | "hardhat" | "web3", environment: Readonly<Record<string, string>>) {
    cpSync(join(HERE, name), this.directory, { recursive: true });
    cpSync(join(HERE, "contracts"), join(this.directory, "contracts"), { recursive: true });
    this.#environment = {
      // The Node of the tests first.
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      // Tools keep caches and settings there.
      HOME: this.directory,
      XDG_CACHE_HOME: join(this.directory, ".cache"),
      CI: "true",
      NO_COLOR: "1",
      ...environment,
    };
  }

  /** Runs a program in the project. Returns its output, once it has succeeded. */
  async run(program: string, ...args: string[]): Promise<string> {
    const ended = await this.attempt(program, ...args);
    expect(ended.code, ended.output).toBe(0);
    return ended.stdout;
  }

  /** Runs a program in the project, which may fail. */
  async attempt(program: string, ...args: string[]): Promise<{ code: number; stdout: string; output: string }> {
    const options = {
      cwd: this.directory,
      env: this.#environment,
      maxBuffer: MAX_OUTPUT_BYTES,
      timeout: RUN_LIMIT_MS,
    };
    try {
      const { stdout, stderr } = await execute(program, args, options);
      return { code: 0, stdout, output: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr, message } = error as Error & { code: number; stdout: string; stderr: string };
      return { code: code ?? -1, stdout, output: `${message}\n${stdout}\n${stderr}` };
    }
  }
}

/** Compiles the contract of the sample projects. */
export function compileVault(): { abi: unknown[]; bytecode: string } {
  const input = {
    language: "Solidity",
    sources: { "Vault.sol": { content: readFileSync(join(HERE, "contracts", "Vault.sol"), "utf8") } },
    settings: { outputSelection: { "*": { Vault: ["abi", "evm.bytecode.object"] } } },
  };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  const { abi, evm } = contracts["Vault.sol"].Vault;
  return { abi, bytecode: `0x${evm.bytecode.object}` };
}
