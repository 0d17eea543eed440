import { readFileSync } from "node:fs";
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { bytesToHex, createAddressFromString, hexToBytes } from "@ethereumjs/util";
import { createVM } from "@ethereumjs/vm";
import solc from "solc";
import { decodeFunctionResult, encodeFunctionData } from "viem";

const SYSTEM = createAddressFromString("0xfffffffffffffffffffffffffffffffffffffffe");
const BEACON_ROOTS = createAddressFromString("0x000f3df6d732807ef1319fb7b8bb8522d0beac02");
const BEACON_ROOTS_CODE =
  "0x3373fffffffffffffffffffffffffffffffffffffffe14604d57602036146024575f5ffd5b5f35801560495762001fff810690815414" +
  "603c575f5ffd5b62001fff01545f5260205ff35b5f5ffd5b62001fff42064281555f359062001fff015500";
const VERIFIER = createAddressFromString(`0x${"c0".repeat(20)}`);

/** An EVM with the contract of EIP-4788, as every chain has it since cancun, and docs/BeaconProofs.sol of the package. */
export async function openEvm() {
  const { abi, code } = compileVerifier();
  const { evm, stateManager } = await createVM({ common: new Common({ chain: Mainnet, hardfork: Hardfork.Prague }) });
  await stateManager.putCode(BEACON_ROOTS, hexToBytes(BEACON_ROOTS_CODE));
  await stateManager.putCode(VERIFIER, hexToBytes(code));

  async function call(options) {
    const { execResult } = await evm.runCall(options);
    if (execResult.exceptionError) throw new Error(`The call failed: ${execResult.exceptionError.error}.`);
    return bytesToHex(execResult.returnValue);
  }

  return {
    /** What an execution block does before its transactions: it keeps the root of the beacon block before its own. */
    async keepBeaconRoot(root, timestamp) {
      const block = { header: { timestamp: BigInt(timestamp) } };
      await call({ caller: SYSTEM, to: BEACON_ROOTS, data: hexToBytes(root), block });
    },
    /** What a function of the verifier answers. */
    async ask(functionName, ...args) {
      const data = await call({ to: VERIFIER, data: hexToBytes(encodeFunctionData({ abi, functionName, args })) });
      return decodeFunctionResult({ abi, functionName, data });
    },
  };
}

function compileVerifier() {
  const source = new URL("docs/BeaconProofs.sol", import.meta.resolve("fanal/package.json"));
  const input = {
    language: "Solidity",
    sources: { verifier: { content: readFileSync(source, "utf8") } },
    settings: { evmVersion: "cancun", outputSelection: { "*": { "*": ["abi", "evm.deployedBytecode.object"] } } },
  };
  const { errors, contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  if (errors) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const { abi, evm } = contracts.verifier.BeaconProofs;
  return { abi, code: `0x${evm.deployedBytecode.object}` };
}
