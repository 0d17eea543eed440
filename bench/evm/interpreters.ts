import { Address } from "@ethereumjs/util";
import { id } from "ethers";
import { createEvmCrypto } from "../../src/evm/crypto.ts";
import { evmBlock } from "../../src/evm/execution/evm-block.ts";
import { updateFractionOf } from "../../src/evm/execution/forks.ts";
import { ChainRules, type Machine } from "../../src/evm/execution/rules.ts";
import { median } from "../support/statistics.ts";
import { printRow } from "../support/table.ts";
import { compile } from "./compile.ts";
import { compileToken } from "./token.ts";

/** Code that a message runs, with its data. Short ones run many times. */
interface Program {
  name: string;
  code: Uint8Array;
  data: Uint8Array;
  times: number;
}

const GAS = 10_000_000n;
const ROUNDS = 11;
const CONTRACT = new Address(new Uint8Array(20).fill(0xc0));
const PROOF_LEVELS = 40;
const MERKLE_SOURCE = `
pragma solidity ^0.8.20;

contract Merkle {
  function root(bytes32[] calldata proof, bytes32 leaf) external pure returns (bytes32 hash) {
    hash = leaf;
    for (uint256 i = 0; i < proof.length; i++) {
      bytes32 other = proof[i];
      hash = hash < other ? keccak256(abi.encodePacked(hash, other)) : keccak256(abi.encodePacked(other, hash));
    }
  }
}`;
/** Counts on the stack, and multiplies, adds and mixes a number of 256 bits until the gas is used up. */
const ARITHMETIC = `60015f5b6003028101 7f${"deadbeef".repeat(8)}18 9060010190 8167${"f".repeat(16)}11600357`.replaceAll(
  " ",
  "",
);

/** Measures both interpreters in turn, each on its own machine. */
export async function benchInterpreters(): Promise<void> {
  const crypto = await createEvmCrypto();
  const blobs = [{ timestamp: 0, target: 6, max: 9, updateFraction: updateFractionOf(9) }];
  const forks = { shanghai: 0, cancun: 0, prague: 0, osaka: 0 };
  const options = { chainId: 1, depositContract: new Uint8Array(20), forks, blobs };
  const [own, library] = [false, true].map((usesLibrary) => new ChainRules(options, crypto, { usesLibrary }).at(0));
  const block = evmBlock(
    {
      parentHash: new Uint8Array(32),
      feeRecipient: new Uint8Array(20),
      number: 1n,
      gasLimit: 30_000_000n,
      timestamp: 1n,
      prevRandao: new Uint8Array(32),
      baseFeePerGas: 7n,
      excessBlobGas: 0n,
      parentBeaconBlockRoot: new Uint8Array(32),
    },
    own!,
  );
  const run = async ({ vm: { evm }, state }: Machine, { code, data, times }: Program) => {
    state.setAccount(CONTRACT.bytes, { code, nonce: 1n });
    const before = process.cpuUsage();
    for (let count = 0; count < times; count++) {
      await evm.runCall({ to: CONTRACT, data, gasLimit: GAS, block, skipNonceIncrement: true });
      evm.journal.cleanJournal();
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / times;
  };
  await own!.withMachine((one) =>
    library!.withMachine(async (other) => {
      for (const program of programs()) {
        const times: [own: number[], library: number[]] = [[], []];
        for (let round = 0; round < ROUNDS; round++) {
          times[0].push(await run(one, program));
          times[1].push(await run(other, program));
        }
        const [ours, theirs] = times.map(median) as [number, number];
        printRow(
          program.name,
          `${ours.toFixed(3)} ms (first ${times[0][0]!.toFixed(3)}); the library's interpreter ${theirs.toFixed(3)} ms, ` +
            `${(theirs / ours).toFixed(1)} times as long`,
        );
      }
    }),
  );
}

function programs(): Program[] {
  const word = (value: bigint | number) => value.toString(16).padStart(64, "0");
  const call = (signature: string, ...words: (bigint | number)[]) =>
    bytesOf(id(signature).slice(2, 10) + words.map(word).join(""));
  const proof = Array.from({ length: PROOF_LEVELS }, (_, level) => BigInt(id(`${level}`)));
  return [
    { name: "10,000,000 gas of arithmetic", code: bytesOf(ARITHMETIC), data: new Uint8Array(0), times: 1 },
    {
      name: `Merkle proof of ${PROOF_LEVELS} levels`,
      code: compile(MERKLE_SOURCE).runtimeCode,
      data: call("root(bytes32[],bytes32)", 64, 7, PROOF_LEVELS, ...proof),
      times: 200,
    },
    {
      name: "ERC-20 balanceOf",
      code: compileToken().runtimeCode,
      data: call("balanceOf(address)", 0x1234),
      times: 1000,
    },
  ];
}

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
