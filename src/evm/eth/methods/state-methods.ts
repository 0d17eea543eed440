import { type BlockId, LATEST } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { quantity } from "../json/hex.ts";

interface AccountArgs {
  address: Uint8Array;
  block?: BlockId | undefined;
}

/** Reads of accounts. */
export function stateMethods(chain: EthChain) {
  const { reader } = chain.engine.executor;
  const accountOf = async ({ address, block = LATEST }: AccountArgs) =>
    reader.account((await chain.withState(block)).world, address);
  return {
    getBalance: async (args: AccountArgs) => quantity((await accountOf(args))?.balance ?? 0n),
  };
}
