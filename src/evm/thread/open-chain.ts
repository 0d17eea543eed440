import type { EvmCrypto } from "../crypto.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import type { ChainRulesOptions } from "../execution/forks.ts";
import { ChainRules } from "../execution/rules.ts";
import { createGenesis } from "../genesis.ts";

/** Parameters of a chain that uses the EVM. */
export interface EvmChainOptions {
  rules: ChainRulesOptions;
  /** Unix seconds. */
  genesisTime: number;
  secondsPerSlot: number;
}

interface OpenedChain {
  rules: ChainRules;
  genesis: ExecutedBlock;
  secondsPerSlot: number;
}

/** Creates the rules and block 0 of a chain. */
export function openChain(
  { rules: options, genesisTime, secondsPerSlot }: EvmChainOptions,
  crypto: EvmCrypto,
): OpenedChain {
  const rules = new ChainRules(options, crypto);
  const genesis = createGenesis(rules, { timestamp: genesisTime, depositContract: options.depositContract });
  return { rules, genesis, secondsPerSlot };
}
