import { onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import type { ForkTimes } from "../support/execution-layer/forks.ts";
import { executionGenesis } from "../support/execution-layer/genesis.ts";
import { Program } from "../support/program/program.ts";
import { EthereumjsClient } from "./ethereumjs-client.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";

export const CHAIN_ID = 4_242_001;
export const VALIDATORS = 16;
export const SLOTS_PER_EPOCH = 8;
export const SLOT_SECONDS = 1;

interface ExecutionChainOptions {
  /** Forks of the execution layer. */
  forks: ForkTimes;
  /** Unix seconds, of both layers. */
  genesisTime: number;
  /** Flags of `fanal dev`. */
  flags: readonly string[];
}

export interface ChainHead {
  head_slot: string;
  finalized_slot: string;
}

/** The part of a block that these tests read. */
interface Block {
  body: {
    execution_payload: {
      block_number: string;
      block_hash: string;
      transactions: string[];
      withdrawals: { address: string }[];
    };
  };
}

/** A dev chain and an execution client that builds its payloads, as processes. */
export class ExecutionChain {
  readonly client: EthereumjsClient;
  readonly #args: readonly string[];
  node: Program;

  static async start({ forks, genesisTime, flags }: ExecutionChainOptions): Promise<ExecutionChain> {
    const genesis = executionGenesis({ timestamp: genesisTime, forks, chainId: CHAIN_ID });
    const client = await EthereumjsClient.start({ directory: tempDirectory(), genesis, whenDone: onTestFinished });
    const chain = ["--validators", VALIDATORS, "--slot-seconds", SLOT_SECONDS, "--genesis-time", genesisTime];
    const args = [...chain.map(String), "--data-dir", tempDirectory(), "--el", client.engine.url, ...flags];
    showLastLinesOnFailure("@ethereumjs/client", [client]);
    return new ExecutionChain(client, args, await startNode(args, client.secretFile));
  }

  private constructor(client: EthereumjsClient, args: readonly string[], node: Program) {
    this.client = client;
    this.node = node;
    this.#args = args;
  }

  /** Restarts the node. */
  async restartNode(secretFile: string): Promise<void> {
    await this.node.stop();
    this.node = await startNode(this.#args, secretFile);
  }

  head(): Promise<ChainHead> {
    return this.node.call("getChainHead");
  }

  untilHead(isWanted: (head: ChainHead) => boolean): Promise<ChainHead> {
    return this.node.callUntil<ChainHead>("getChainHead", isWanted, { pollMs: 200, seconds: 400 });
  }

  untilEpoch(epoch: number): Promise<ChainHead> {
    return this.untilHead((head) => Number(head.head_slot) >= epoch * SLOTS_PER_EPOCH);
  }

  untilFinalized(epoch: number): Promise<ChainHead> {
    return this.untilHead((head) => Number(head.finalized_slot) >= epoch * SLOTS_PER_EPOCH);
  }

  /** The canonical blocks of a slot range, without its end. */
  async blocks(from: number, to: number): Promise<Block[]> {
    const slots = Array.from({ length: to - from }, (_, index) => from + index);
    const replies = await this.node.batch(slots.map((slot) => ["get_v2_beacon_blocks_blockId", [slot]]));
    return replies.flatMap(({ result }) => (result === undefined ? [] : [result.message]));
  }

  /** Sends a signed transaction to the client. */
  async send(raw: string): Promise<void> {
    await this.client.eth.call("eth_sendRawTransaction", raw);
  }
}

async function startNode(args: readonly string[], secretFile: string): Promise<Program> {
  const node = await Program.dev([...args, "--jwt-secret", secretFile]);
  showLastLinesOnFailure("Fanal", [node]);
  return node;
}
