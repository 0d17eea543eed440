import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createEVM } from "@ethereumjs/evm";
import { bytesToHex, createAddressFromString, hexToBytes } from "@ethereumjs/util";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { Interface, type InterfaceAbi } from "ethers";
import { expect, it } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import { Caller } from "../../support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../support/api/fake-chain.ts";
import { ExecutionClient } from "../../support/execution/execution-client.ts";
import { NodeWithClient } from "../../support/execution/node-with-client.ts";
import type { Hex } from "../../support/execution-layer/wire.ts";

const SOURCE = "BeaconProofs.sol";
const CONTRACT = createAddressFromString(`0x${"c0".repeat(20)}`);
const HISTORY_SLOTS = 4 * SLOTS_PER_EPOCH + 2;

interface Compiled {
  abi: InterfaceAbi;
  evm: { deployedBytecode: { object: string } };
}

/** In a separate process, because the compiler leaves listeners behind. */
function solc(input: string): string {
  const program = createRequire(import.meta.url).resolve("solc/solc.js");
  const output = execFileSync(process.execPath, [program, "--standard-json"], { input, encoding: "utf8" });
  // The first line is a warning of the compiler.
  return output.slice(output.indexOf("{"));
}

it("a contract has the same indices of validators in gloas, which differ from those before", async () => {
  const { abi, code } = compile();
  const evm = await createEVM();
  await evm.stateManager.putCode(CONTRACT, code);
  const ask = async (method: string, ...args: unknown[]) => {
    const { execResult } = await evm.runCall({
      to: CONTRACT,
      data: hexToBytes(abi.encodeFunctionData(method, args) as Hex),
    });
    return execResult.exceptionError
      ? "reverted"
      : abi.decodeFunctionResult(method, bytesToHex(execResult.returnValue))[0];
  };
  const fields = ["pubkey", "withdrawal_credentials", "effective_balance", "slashed"];
  for (const fork of ["fulu", "gloas"] as const) {
    const chain = createFakeChain([{ fork, epoch: 0 }]);
    const caller = new Caller(
      createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} }),
    );
    for (const validator of [0, 1, 4, 5, 15]) {
      for (const [field, name] of fields.entries()) {
        const { leaf, branch, gindex } = await caller.call("getStateProof", [
          0,
          ["validators", validator, name],
          "block",
        ]);
        expect(String(await ask("fieldOf", validator, field, branch.length))).toBe(gindex);
        expect(await ask("rootOf", leaf, branch, gindex)).toBe(chain.genesisRoot);
      }
      // The index of the other fork does not fit the branch.
      const { leaf, branch } = await caller.call("getStateProof", [0, ["validators", validator, "slashed"], "block"]);
      const other = await ask("fieldOf", validator, 3, fork === "gloas" ? 53 : 16);
      expect(await ask("rootOf", leaf, branch, other)).toBe("reverted");
    }
  }
  // The last possible validator, which is in the largest subtree.
  expect(await ask("fieldOf", 2n ** 40n - 1n, 0, 99)).toBe(elementIndex(2918n, 2n ** 40n - 1n) * 8n);
});

function elementIndex(list: bigint, index: bigint): bigint {
  let [first, size, node] = [0n, 1n, list * 2n];
  for (; index >= first + size; size *= 4n) {
    first += size;
    node = node * 2n + 1n;
  }
  return node * 2n * size + index - first;
}

/** The contract in the documentation. */
function compile(): { abi: Interface; code: Uint8Array } {
  const content = readFileSync(join(import.meta.dirname, "../../../docs", SOURCE), "utf8");
  const settings = {
    evmVersion: "cancun",
    outputSelection: { "*": { "*": ["abi", "evm.deployedBytecode.object"] } },
  };
  const input = { language: "Solidity", sources: { [SOURCE]: { content } }, settings };
  const { errors, contracts } = JSON.parse(solc(JSON.stringify(input))) as {
    errors?: unknown[];
    contracts: Record<string, Record<string, Compiled>>;
  };
  expect(errors ?? []).toEqual([]);
  const { abi, evm } = contracts[SOURCE]!.BeaconProofs!;
  return { abi: new Interface(abi), code: hexToBytes(`0x${evm.deployedBytecode.object}`) };
}

it("a contract verifies the credentials of a validator in an old state, using the beacon roots contract", async () => {
  const client = await ExecutionClient.open();
  const node = await NodeWithClient.open([client]);
  expect(await node.advance(HISTORY_SLOTS)).toEqual([]);
  expect(node.chain.forkChoice.finalized.epoch).toBeGreaterThan(0);

  const { evm, head } = client.layer.chain;
  const vm = await evm.vmOn(head, head.block.common);
  const { abi, code } = compile();
  await vm.stateManager.putCode(CONTRACT, code);
  const ask = async (method: string, ...args: unknown[]) => {
    const data = hexToBytes(abi.encodeFunctionData(method, args) as Hex);
    const { execResult } = await vm.evm.runCall({ to: CONTRACT, data, block: head.block });
    if (execResult.exceptionError) return "reverted";
    return abi.decodeFunctionResult(method, bytesToHex(execResult.returnValue))[0];
  };

  for (const slot of [0, 3, HISTORY_SLOTS - 1]) {
    const { root } = await node.call("get_v1_beacon_blocks_blockId_root", [slot]);
    const [validator, other] = await node.call("get_v1_beacon_states_stateId_validators", [slot, ["5", "6"]]);
    const credentials = validator.validator.withdrawal_credentials;
    const { timestamp, branch, ...proof } = await node.call("getStateProof", [
      slot,
      ["validators", 5, "withdrawal_credentials"],
      "block",
    ]);
    expect(await ask("beaconRoot", timestamp)).toBe(root);
    expect(await ask("hasCredentials", timestamp, 5, credentials, branch)).toBe(true);
    expect(await ask("isInBlock", timestamp, proof.gindex, proof.leaf, branch)).toBe(true);
    const balance = validator.validator.effective_balance;
    const proven = await node.call("getStateProof", [slot, ["validators", 5, "effective_balance"], "block"]);
    expect(await ask("leafOf", balance)).toBe(proven.leaf);
    expect(await ask("hasEffectiveBalance", timestamp, 5, balance, proven.branch)).toBe(true);
    expect(await ask("hasEffectiveBalance", timestamp, 5, BigInt(balance) + 1n, proven.branch)).toBe(false);

    expect(await ask("hasCredentials", timestamp, 6, credentials, branch)).toBe(false);
    expect(await ask("hasCredentials", timestamp, 5, other.validator.withdrawal_credentials, branch)).toBe(false);
    expect(await ask("hasCredentials", BigInt(timestamp) + 2n, 5, credentials, branch)).not.toBe(true);
    expect(await ask("hasCredentials", BigInt(timestamp) + 1n, 5, credentials, branch)).toBe("reverted");
    expect(await ask("hasCredentials", timestamp, 5, credentials, branch.slice(1))).toBe("reverted");

    const payload = await node.call("getBlockProof", [slot, ["body", "execution_payload", "block_hash"]]);
    expect(payload.timestamp).toBe(timestamp);
    expect(await ask("isInBlock", timestamp, payload.gindex, payload.value, payload.branch)).toBe(true);
  }
  // The head has no child.
  expect(await node.call("getStateProof", ["head", "slot"])).toHaveProperty("timestamp", null);
});
