import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type phase0, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { AbiCoder, id } from "ethers";
import { onTestFinished } from "vitest";

export const CONTRACT = new Uint8Array(20).fill(0x42);

interface FakeBlock {
  hash: string;
  timestamp: number;
  /** Deposit count after the block. */
  depositCount: number;
}

/** Methods used by the deposit follower. */
type Call =
  | { method: "eth_chainId"; params: [] }
  | { method: "eth_getCode"; params: [address: string, block: string] }
  | { method: "eth_getBlockByNumber"; params: [number: string, withTransactions: boolean] }
  | { method: "eth_getLogs"; params: [filter: { fromBlock: string; toBlock: string }] }
  | { method: "eth_call"; params: [call: { data: string }, block: string] };

/** A scripted HTTP server of a deposit chain. */
export class Eth1Server {
  chainId = 1337;
  hasContract = true;
  /** Serves eth_call of the contract. */
  hasState = true;
  /** Refuses log queries over larger ranges. */
  largestRange = Number.POSITIVE_INFINITY;
  /** Drops the logs of earlier deposits. */
  logsFrom = 0;
  readonly blocks: FakeBlock[] = [];
  /** Called methods with their first parameter. */
  readonly calls: string[] = [];
  #forks = 0;
  #server: Server | undefined;
  #port = 0;

  static async listen(): Promise<Eth1Server> {
    const eth1 = new Eth1Server();
    await eth1.listen();
    onTestFinished(() => eth1.stop());
    return eth1;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<void> {
    const server = createServer(async (request, response) => response.end(await this.#answer(request)));
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server?.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }

  /** Mines blocks with the given times and deposit counts. */
  mine(...blocks: [timestamp: number, deposits: number][]): void {
    for (const [timestamp, deposits] of blocks) {
      const before = this.blocks.at(-1);
      const hash = id(`${before?.hash} ${timestamp} ${deposits} ${this.#forks}`);
      this.blocks.push({ hash, timestamp, depositCount: (before?.depositCount ?? 0) + deposits });
    }
  }

  /** Removes the newest blocks. Later blocks are on another branch. */
  orphan(count: number): void {
    this.blocks.splice(-count);
    this.#forks++;
  }

  async #answer(request: IncomingMessage): Promise<string> {
    const { id, ...call } = JSON.parse(await text(request)) as Call & { id: number };
    this.calls.push(`${call.method} ${JSON.stringify(call.params[0] ?? null)}`);
    try {
      return JSON.stringify({ jsonrpc: "2.0", id, result: this.#result(call) });
    } catch (error) {
      return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: String(error) } });
    }
  }

  #result({ method, params }: Call): unknown {
    switch (method) {
      case "eth_chainId":
        return hex(this.chainId);
      case "eth_getCode":
        return this.hasContract ? "0x60" : "0x";
      case "eth_getBlockByNumber":
        return this.#header(Number(params[0]));
      case "eth_getLogs":
        return this.#logs(Number(params[0].fromBlock), Number(params[0].toBlock));
      case "eth_call":
        return this.#contract(params[0].data, this.blocks[Number(params[1])]!.depositCount);
      default:
        throw new Error(`there is no ${method}`);
    }
  }

  #header(number: number): unknown {
    const block = this.blocks[number];
    if (!block) return null;
    const parentHash = this.blocks[number - 1]?.hash ?? `0x${"00".repeat(32)}`;
    return { number: hex(number), hash: block.hash, parentHash, timestamp: hex(block.timestamp) };
  }

  #logs(from: number, to: number): unknown[] {
    if (to - from + 1 > this.largestRange) throw new Error("query returned more than 10000 results");
    const logs: unknown[] = [];
    for (let number = from; number <= to; number++) {
      const first = Math.max(this.blocks[number - 1]?.depositCount ?? 0, this.logsFrom);
      const { depositCount, hash } = this.blocks[number]!;
      for (let index = first; index < depositCount; index++) {
        logs.push({ blockNumber: hex(number), blockHash: hash, data: depositLog(index), removed: false });
      }
    }
    return logs;
  }

  #contract(call: string, count: number): string {
    if (!this.hasState) throw new Error("missing trie node");
    const abi = AbiCoder.defaultAbiCoder();
    if (call === id("get_deposit_count()").slice(0, 10)) return abi.encode(["bytes"], [ssz.UintNum64.serialize(count)]);
    return toHex(depositRoot(count));
  }
}

/** Returns the n-th deposit, the same for every chain. */
export function depositData(index: number): phase0.DepositData {
  return {
    pubkey: new Uint8Array(48).fill(index),
    withdrawalCredentials: new Uint8Array(32).fill(index + 1),
    amount: 32e9 + index,
    signature: new Uint8Array(96).fill(index + 2),
  };
}

/** Returns the deposit root, computed with SSZ. */
export function depositRoot(count: number): Uint8Array {
  const dataRoots = Array.from({ length: count }, (_, index) =>
    ssz.phase0.DepositData.hashTreeRoot(depositData(index)),
  );
  return ssz.phase0.DepositDataRootList.hashTreeRoot(dataRoots);
}

function depositLog(index: number): string {
  const { pubkey, withdrawalCredentials, amount, signature } = depositData(index);
  const numbers = { amount: ssz.UintNum64.serialize(amount), index: ssz.UintNum64.serialize(index) };
  const values = [pubkey, withdrawalCredentials, numbers.amount, signature, numbers.index];
  return AbiCoder.defaultAbiCoder().encode(Array(5).fill("bytes"), values);
}

const hex = (number: number) => `0x${number.toString(16)}`;
