import solc from "solc";

/** A compiled contract. */
export interface Compiled {
  initCode: Uint8Array;
  runtimeCode: Uint8Array;
}

/** Compiles the only contract of a source. */
export function compile(source: string): Compiled {
  const input = {
    language: "Solidity",
    sources: { "contract.sol": { content: source } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.deployedBytecode.object"] } },
    },
  };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  const [contract] = Object.values(contracts["contract.sol"]) as { evm: Record<string, { object: string }> }[];
  const { bytecode, deployedBytecode } = contract!.evm;
  return { initCode: bytesOf(bytecode!.object), runtimeCode: bytesOf(deployedBytecode!.object) };
}

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
