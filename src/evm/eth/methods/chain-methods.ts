import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { EthChain } from "../eth-chain.ts";
import { quantity } from "../json/hex.ts";

/** Methods that describe the chain. */
export function chainMethods({ engine }: EthChain<EvmEngine>) {
  return {
    chainId: async () => quantity(engine.rules.at(engine.head.header.timestamp).chainId),
  };
}
