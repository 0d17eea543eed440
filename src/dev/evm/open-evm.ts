import type { ChainConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { byteArrayEquals } from "@lodestar/utils";
import { rulesFromConsensus } from "../../evm/execution/forks.ts";
import type { EvmThread } from "../../evm/thread/evm-thread.ts";
import type { GenesisBlock } from "../../execution/engine-api/genesis-block.ts";
import { InvalidChainError } from "../invalid-chain-error.ts";

/** Opens a new dev chain with the configuration and returns block 0. */
export async function createEvmChain(evm: EvmThread, config: ChainConfig, chainId: number): Promise<GenesisBlock> {
  if (config.BELLATRIX_FORK_EPOCH !== 0) {
    throw new InvalidChainError(
      "A chain with --evm has to start in bellatrix or a later fork: earlier ones have no execution payloads.",
    );
  }
  const genesisTime = config.MIN_GENESIS_TIME;
  const rules = rulesFromConsensus(config, { chainId, genesisTime, slotsPerEpoch: SLOTS_PER_EPOCH });
  return evm.open({ rules, genesisTime, secondsPerSlot: config.SECONDS_PER_SLOT });
}

/**
 * Opens an existing dev chain. Returns false if its execution chain does not start from the EVM's block 0, for example
 * because it uses an execution client.
 */
export async function openEvmChain(evm: EvmThread, config: ChainConfig): Promise<boolean> {
  if (config.BELLATRIX_FORK_EPOCH !== 0) return false;
  const { blockHash } = await createEvmChain(evm, config, config.DEPOSIT_CHAIN_ID);
  return byteArrayEquals(blockHash, config.TERMINAL_BLOCK_HASH);
}
