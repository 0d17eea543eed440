import { readFileSync } from "node:fs";
import solc from "solc";

const LIBRARY = new URL("docs/BeaconProofs.sol", import.meta.resolve("fanal/package.json"));

/** Compiles a contract of a Solidity file in this folder, which may import others and BeaconProofs.sol of the package. */
export function compile(file: string, contract: string): `0x${string}` {
  const read = (path: string) =>
    readFileSync(path.endsWith("BeaconProofs.sol") ? LIBRARY : new URL(path, import.meta.url), "utf8");
  const input = {
    language: "Solidity",
    sources: { [file]: { content: read(file) } },
    settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["evm.bytecode.object"] } } },
  };
  const output = solc.compile(JSON.stringify(input), { import: (path: string) => ({ contents: read(path) }) });
  const { errors = [], contracts } = JSON.parse(output);
  const failures = errors.filter(({ severity }: { severity: string }) => severity === "error");
  if (failures.length > 0)
    throw new Error(failures.map((each: { formattedMessage: string }) => each.formattedMessage).join("\n"));
  return `0x${contracts[file][contract].evm.bytecode.object}`;
}
