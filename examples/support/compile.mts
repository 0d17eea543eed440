import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import solc from "solc";
import type { Abi } from "viem";

const { resolve } = createRequire(import.meta.url);
/** This folder, that of BeaconProofs.sol, and node_modules. */
const FOLDERS = [
  import.meta.dirname,
  join(dirname(resolve("fanal/package.json")), "docs"),
  ...(resolve.paths("solc") ?? []),
];

/** Compiles a contract of a file in this folder. Imports may be BeaconProofs.sol, other files, and npm packages. */
export function compile(file: string, contract: string): { abi: Abi; bytecode: `0x${string}` } {
  const input = {
    language: "Solidity",
    sources: { [file]: { content: read(file) } },
    settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
  };
  const output = solc.compile(JSON.stringify(input), { import: readImport });
  const { errors = [], contracts = {} } = JSON.parse(output);
  const failures = errors.filter(({ severity }: { severity: string }) => severity === "error");
  if (failures.length > 0)
    throw new Error(failures.map((each: { formattedMessage: string }) => each.formattedMessage).join("\n"));
  const compiled = contracts[file]?.[contract];
  if (compiled === undefined) {
    throw new Error(`No contract ${contract} in ${file}. Found: ${Object.keys(contracts[file] ?? {}).join(", ")}.`);
  }
  return { abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` };
}

function read(path: string): string {
  const folder = FOLDERS.find((each) => existsSync(join(each, path)));
  if (folder === undefined) throw new Error(`${path} is neither in ${import.meta.dirname} nor in node_modules.`);
  return readFileSync(join(folder, path), "utf8");
}

/** Returns errors: an exception would break the compiler for the rest of the process. */
function readImport(path: string): { contents: string } | { error: string } {
  try {
    return { contents: read(path) };
  } catch (error) {
    return { error: String(error) };
  }
}
