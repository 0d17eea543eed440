import type { ChainConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { byteArrayEquals } from "@lodestar/utils";
import { createEvmCrypto } from "../../evm/crypto.ts";
import { EvmEngine } from "../../evm/engine/evm-engine.ts";
import type { ExecutedBlock } from "../../evm/execution/block.ts";
import { rulesFromConsensus } from "../../evm/execution/forks.ts";
import { ChainRules } from "../../evm/execution/rules.ts";
import { createGenesis } from "../../evm/genesis.ts";
import type { GenesisBlock } from "../../execution/engine-api/genesis-block.ts";
import type { Logger } from "../../log/logger.ts";
import { InvalidChainError } from "../invalid-chain-error.ts";

interface EvmChain {
  rules: ChainRules;
  genesis: ExecutedBlock;
}

/** Creates block 0 of a dev chain with that configuration. */
export async function createEvmChain(config: ChainConfig, chainId: number): Promise<EvmChain> {
  if (config.BELLATRIX_FORK_EPOCH !== 0) {
    throw new InvalidChainError(
      "A chain with --evm has to start in bellatrix or a later fork: earlier ones have no execution payloads.",
    );
  }
  const genesisTime = config.MIN_GENESIS_TIME;
  const options = rulesFromConsensus(config, { chainId, genesisTime, slotsPerEpoch: SLOTS_PER_EPOCH });
  const rules = new ChainRules(options, await createEvmCrypto());
  const genesis = createGenesis(rules, {
    timestamp: genesisTime,
    depositContract: config.DEPOSIT_CONTRACT_ADDRESS,
  });
  return { rules, genesis };
}

/** Returns block 0 with the fields that the genesis state of the beacon chain takes. */
export function executionGenesis({ genesis: { hash, header } }: EvmChain): GenesisBlock {
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

/**
 * Opens the EVM of a dev chain. Returns undefined if its execution chain starts from another block than that of the
 * EVM, as with an execution client.
 */
export async function openEvm(config: ChainConfig, logger: Logger): Promise<EvmEngine | undefined> {
  if (config.BELLATRIX_FORK_EPOCH !== 0) return undefined;
  const { rules, genesis } = await createEvmChain(config, config.DEPOSIT_CHAIN_ID);
  if (!byteArrayEquals(genesis.hash, config.TERMINAL_BLOCK_HASH)) return undefined;
  return new EvmEngine({ rules, genesis, secondsPerSlot: config.SECONDS_PER_SLOT, logger: logger.topic("execution") });
}
