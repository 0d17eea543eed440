import type { EthChain } from "../eth-chain.ts";
import { quantity } from "../json/hex.ts";

/** Facts about the chain. */
export function chainMethods({ engine }: EthChain) {
  return {
    chainId: async () => quantity(engine.rules.at(engine.head.header.timestamp).chainId),
  };
}
