import type { GenesisBlock } from "../../execution/engine-api/genesis-block.ts";
import { changesOf, EXECUTION_FORKS, type ExecutionFork, forkAt } from "../execution/forks.ts";
import { createGenesis } from "../genesis.ts";
import { createKeccak256 } from "../keccak.ts";
import type { EvmChainOptions } from "./open-chain.ts";

/** Creates block 0 of a chain. Returns the fields needed by the beacon chain's genesis state. */
export async function createGenesisBlock({ rules, genesisTime }: EvmChainOptions): Promise<GenesisBlock> {
  const keccak = await createKeccak256();
  const isSince = (fork: ExecutionFork, timestamp: number) =>
    EXECUTION_FORKS.indexOf(forkAt(rules, timestamp)) >= EXECUTION_FORKS.indexOf(fork);
  const genesisRules = {
    crypto: { keccak },
    changes: changesOf(rules),
    at: (timestamp: number) => ({ isSince: (fork: ExecutionFork) => isSince(fork, timestamp) }),
  };
  const { hash, header } = createGenesis(genesisRules, {
    timestamp: genesisTime,
    depositContract: rules.depositContract,
  });
  const { parentHash, feeRecipient, stateRoot, receiptsRoot, logsBloom, prevRandao, extraData, baseFeePerGas } = header;
  return {
    parentHash,
    feeRecipient,
    stateRoot,
    receiptsRoot,
    logsBloom,
    prevRandao,
    extraData,
    baseFeePerGas,
    blockHash: hash,
    blockNumber: 0,
    gasLimit: Number(header.gasLimit),
    gasUsed: 0,
    timestamp: Number(header.timestamp),
    blobGasUsed: header.blobGasUsed ?? 0n,
    excessBlobGas: header.excessBlobGas ?? 0n,
  };
}
