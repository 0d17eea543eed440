import type { RootHex } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { z } from "zod";
import { type JsonRpcClient, JsonRpcFailure, JsonRpcResponseError } from "../json-rpc-client.ts";
import {
  DEPOSIT_EVENT_TOPIC,
  DEPOSIT_LOGS,
  HASH,
  type LoggedDeposit,
  parseDepositLog,
  QUANTITY,
} from "./deposit-log.ts";
import { describeFailure, EndpointError, RangeTooLargeError } from "./endpoint-error.ts";

export interface Eth1Header {
  number: number;
  hash: RootHex;
  parentHash: RootHex;
  timestamp: number;
}

/** State of the deposit contract. */
interface ContractState {
  depositRoot: Uint8Array;
  depositCount: number;
}

const HEADER = z.object({ number: QUANTITY, hash: HASH, parentHash: HASH, timestamp: QUANTITY }).nullable();
const BYTES = z.string().regex(/^0x(?:[0-9a-f]{2})*$/i);

/** Function selectors. */
const GET_DEPOSIT_ROOT = "0xc5f2892f";
const GET_DEPOSIT_COUNT = "0x621fd130";
/** Position of the count in the ABI encoding: eight little-endian bytes after offset and length. */
const COUNT_POSITION = 64;

/** Generous, because log queries over many blocks are slow. */
const TIMEOUT_MS = 20_000;

/** Maximum number of concurrent header requests. */
const MAX_CONCURRENT_HEADERS = 32;

/** JSON-RPC client for a deposit chain node. Validates all responses. */
export class Eth1Node {
  readonly name: string;
  readonly #client: JsonRpcClient;
  readonly #contract: string;
  readonly #signal: AbortSignal;

  constructor(client: JsonRpcClient, contract: Uint8Array, signal: AbortSignal) {
    this.name = new URL(client.origin).host;
    this.#client = client;
    this.#contract = toHex(contract);
    this.#signal = signal;
  }

  chainId(): Promise<number> {
    return this.#ask("eth_chainId", [], QUANTITY);
  }

  async hasContract(): Promise<boolean> {
    return (await this.#ask("eth_getCode", [this.#contract, "latest"], BYTES)) !== "0x";
  }

  /** Returns null for a block beyond the head. */
  async header(number: number): Promise<Eth1Header | null> {
    const header = await this.#ask("eth_getBlockByNumber", [quantity(number), false], HEADER);
    if (header !== null && header.number !== number) {
      throw new EndpointError(`returned block ${header.number} instead of block ${number}`);
    }
    return header;
  }

  /** Returns the headers in a range of blocks that must exist. */
  async headers(from: number, to: number): Promise<Eth1Header[]> {
    const headers: Eth1Header[] = [];
    for (let next = from; next <= to; next += MAX_CONCURRENT_HEADERS) {
      const numbers = Array.from({ length: Math.min(MAX_CONCURRENT_HEADERS, to - next + 1) }, (_, n) => next + n);
      for (const header of await Promise.all(numbers.map((number) => this.header(number)))) {
        if (header === null) throw new EndpointError("has fewer blocks than before");
        headers.push(header);
      }
    }
    return headers;
  }

  /** Returns the deposits in a range of blocks, in contract order. */
  async deposits(fromBlock: number, toBlock: number): Promise<LoggedDeposit[]> {
    const filter = {
      address: this.#contract,
      topics: [DEPOSIT_EVENT_TOPIC],
      fromBlock: quantity(fromBlock),
      toBlock: quantity(toBlock),
    };
    const logs = await this.#ask("eth_getLogs", [filter], DEPOSIT_LOGS);
    try {
      const deposits = logs.filter(({ removed }) => removed !== true).map(parseDepositLog);
      return deposits.sort((a, b) => a.index - b.index);
    } catch (error) {
      throw new EndpointError("returns logs that are not of the deposit contract", error);
    }
  }

  /** Returns the state of the contract after a block, or null if the node has pruned it. */
  async contractState(block: number): Promise<ContractState | null> {
    const callContract = async (data: string) =>
      fromHex(await this.#ask("eth_call", [{ to: this.#contract, data }, quantity(block)], BYTES));
    try {
      const [depositRoot, count] = await Promise.all([callContract(GET_DEPOSIT_ROOT), callContract(GET_DEPOSIT_COUNT)]);
      if (depositRoot.length !== 32 || count.length < COUNT_POSITION + 8) return null;
      return {
        depositRoot,
        depositCount: Number(new DataView(count.buffer, count.byteOffset).getBigUint64(COUNT_POSITION, true)),
      };
    } catch (error) {
      if (error instanceof JsonRpcResponseError) return null;
      throw error;
    }
  }

  async #ask<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T> {
    const { data, success } = schema.safeParse(await this.#call(method, params));
    if (!success) throw new EndpointError(`returned an invalid response to ${method}`);
    return data;
  }

  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#client.call(method, params, { timeoutMs: TIMEOUT_MS, signal: this.#signal });
    } catch (error) {
      if (!(error instanceof JsonRpcFailure)) throw error;
      const isTooLarge = error.kind === "timeout" || error.kind === "unusable";
      throw new (isTooLarge ? RangeTooLargeError : EndpointError)(describeFailure(error), error);
    }
  }

  close(): void {
    this.#client.close();
  }
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}
