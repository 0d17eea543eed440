import { readFileSync } from "node:fs";
import solc from "solc";

/** Compiles Pod.sol, which imports docs/BeaconProofs.sol of the package. Returns its bytecode. */
export function compilePod(): `0x${string}` {
  const sources = {
    "Pod.sol": new URL("Pod.sol", import.meta.url),
    "BeaconProofs.sol": new URL("docs/BeaconProofs.sol", import.meta.resolve("fanal/package.json")),
  };
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, url]) => [name, { content: readFileSync(url, "utf8") }]),
    ),
    settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["evm.bytecode.object"] } } },
  };
  const { errors, contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  if (errors) throw new Error(errors.map((each: { formattedMessage: string }) => each.formattedMessage).join("\n"));
  return `0x${contracts["Pod.sol"].Pod.evm.bytecode.object}`;
}
