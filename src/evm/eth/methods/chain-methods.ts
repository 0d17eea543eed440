import type { EthChain } from "../eth-chain.ts";
import { quantity } from "../json/hex.ts";

/** Methods about the chain. */
export function chainMethods({ engine }: EthChain) {
  return {
    chainId: async () => quantity(engine.rules.at(engine.head.header.timestamp).chainId),
  };
}
