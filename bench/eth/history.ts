import { tokenInitCode } from "../evm/token.ts";
import type { EthServer } from "./servers.ts";

/** One block in so many has a transaction. */
const BLOCKS_PER_MINT = 10;
const HOLDER = "77".repeat(20);

export interface TokenChain {
  server: EthServer;
  token: string;
  seconds: number;
}

/** Deploys an ERC-20 and makes blocks, every tenth of them with a mint. */
export async function makeHistory(server: EthServer, blocks: number): Promise<TokenChain> {
  const began = performance.now();
  const [from] = await server.call<string[]>("eth_accounts");
  const data = `0x${Buffer.from(tokenInitCode()).toString("hex")}`;
  const hash = await server.call<string>("eth_sendTransaction", { from, data, gas: "0xf4240" });
  const { contractAddress: token } = await server.call<{ contractAddress: string }>("eth_getTransactionReceipt", hash);
  for (let made = 0; made < blocks; made += BLOCKS_PER_MINT) {
    await server.call("eth_sendTransaction", { from, to: token, data: mint(1000 + made), gas: "0x186a0" });
    await server.mine(BLOCKS_PER_MINT - 1);
  }
  return { server, token, seconds: (performance.now() - began) / 1000 };
}

const word = (hex: string) => hex.padStart(64, "0");
const mint = (value: number) => `0x40c10f19${word(HOLDER)}${word(value.toString(16))}`;

/** Parameters of `eth_call` that read the balance of the holder. */
export function balanceCall(token: string): [object, string] {
  return [{ to: token, data: `0x70a08231${word(HOLDER)}` }, "latest"];
}
