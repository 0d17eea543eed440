import { compileToken } from "../evm/token.ts";
import type { EthServer } from "./servers.ts";

const BLOCKS_PER_MINT = 10;
const MAX_RECEIPT_CALLS = 1000;
const HOLDER = "77".repeat(20);

export interface TokenChain {
  server: EthServer;
  token: string;
  seconds: number;
}

/** Deploys an ERC-20 and mines blocks, every tenth with a mint. */
export async function makeHistory(server: EthServer, blocks: number): Promise<TokenChain> {
  const began = performance.now();
  const [from] = await server.call<string[]>("eth_accounts");
  const data = `0x${Buffer.from(compileToken().initCode).toString("hex")}`;
  const hash = await server.call<string>("eth_sendTransaction", { from, data, gas: "0xf4240" });
  const token = await deployedAt(server, hash);
  for (let made = 0; made < blocks; made += BLOCKS_PER_MINT) {
    await server.call("eth_sendTransaction", { from, to: token, data: mint(1000 + made), gas: "0x186a0" });
    await server.mine(BLOCKS_PER_MINT - 1);
  }
  return { server, token, seconds: (performance.now() - began) / 1000 };
}

/** Returns the address of a deployed contract. Polls, because Anvil mines a transaction shortly after its response. */
async function deployedAt(server: EthServer, hash: string): Promise<string> {
  for (let calls = 0; calls < MAX_RECEIPT_CALLS; calls++) {
    const receipt = await server.call<{ contractAddress: string } | null>("eth_getTransactionReceipt", hash);
    if (receipt !== null) return receipt.contractAddress;
  }
  throw new Error(`${server.name} did not mine the transaction ${hash}.`);
}

const word = (hex: string) => hex.padStart(64, "0");
const mint = (value: number) => `0x40c10f19${word(HOLDER)}${word(value.toString(16))}`;

/** Parameters of `eth_call` that read the balance of a holder. @param holder hex digits */
export function balanceCall(token: string, holder: string = HOLDER): [object, string] {
  return [{ to: token, data: `0x70a08231${word(holder)}` }, "latest"];
}
