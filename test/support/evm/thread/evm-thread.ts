import { Worker } from "node:worker_threads";
import { ForkName } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, onTestFinished } from "vitest";
import type { StoredPayload } from "../../../../src/evm/engine/history.ts";
import { ReadThread } from "../../../../src/evm/reads/read-thread.ts";
import { EvmThread } from "../../../../src/evm/thread/evm-thread.ts";
import type { PayloadRequest } from "../../../../src/execution/engine.ts";
import type { GenesisBlock } from "../../../../src/execution/engine-api/genesis-block.ts";
import type { ChannelMessage } from "../../../../src/threads/channel.ts";
import type { ThreadPort } from "../../../../src/threads/thread.ts";
import { ThreadPool } from "../../../../src/threads/thread-pool.ts";
import type { Movable } from "../../../../src/threads/transfer.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { memoryStore } from "../engine/storage/memory-store.ts";
import { addressOf, GENESIS_TIME, optionsOf, SLOT_SECONDS } from "../evm.ts";

export const FORK = ForkName.fulu;
export const ZERO_HASH = toRootHex(new Uint8Array(32));
const rootOfSlot = (slot: number) => new Uint8Array(32).fill(slot);

/** Reads that no test makes. */
const NO_READS = new ReadThread({
  startWorker: () => {
    throw new Error("This test starts no thread for reads.");
  },
});

/** A thread that serves one test after the other, and is started again if a test has ended it. */
class ReusedThread {
  worker!: Worker;
  readonly #pool = new ThreadPool(() => {
    this.worker = new Worker(new URL("../../../../src/evm/thread/worker.ts", import.meta.url));
    return this.worker;
  });

  take(): ThreadPort {
    return this.#pool.take();
  }
}

/** Not in use by a test. */
const unused: ReusedThread[] = [];

/** A chain of execution blocks with in-memory beacon blocks, and an EVM in a separate thread. */
export async function openThread(reads = NO_READS) {
  const workers: Worker[] = [];
  /** Methods of the thread that were called. */
  const called: string[] = [];
  /** Methods that the thread called. */
  const received: string[] = [];
  const logger = createRecordingLogger();
  const used: ReusedThread[] = [];
  onTestFinished(() => void unused.push(...used));
  const startWorker = () => {
    const reused = unused.pop() ?? new ReusedThread();
    const port = reused.take();
    used.push(reused);
    workers.push(reused.worker);
    port.on("message", (messages) => {
      for (const message of messages) if (message[0] === "call") received.push(message[2]);
    });
    const { postMessage } = port;
    port.postMessage = (messages: unknown, moved?: readonly Movable[]) => {
      for (const message of messages as ChannelMessage[]) if (message[0] === "call") called.push(message[2]);
      postMessage.call(port, messages, moved);
    };
    return port;
  };
  const thread = new EvmThread({ logger, startWorker, reads });
  onTestFinished(() => thread.stop());
  const rules = optionsOf("osaka");
  const genesis: GenesisBlock = await thread.open({ rules, genesisTime: GENESIS_TIME, secondsPerSlot: SLOT_SECONDS });
  const payloads = new Map<RootHex, StoredPayload>();
  const { store } = memoryStore();
  const { putTransaction } = store;
  const storing: { gate: Promise<void> | undefined; began(): void } = { gate: undefined, began: () => {} };
  store.putTransaction = async (...args) => {
    storing.began();
    await storing.gate;
    await putTransaction(...args);
  };
  const reading = { gate: Promise.resolve(), started: () => {} };
  let head = toRootHex(genesis.blockHash);
  await thread.connect({
    history: {
      rootOf: async (hash) => [...payloads].find(([, { payload }]) => toRootHex(payload.blockHash) === hash)?.[0],
      // A service in another thread has all of its methods.
      holderOf: async (_, root) => root,
      read: async (root) => {
        reading.started();
        await reading.gate;
        return payloads.get(root) ?? null;
      },
    },
    store,
    kzg: { verify: async () => true },
    proposals: { next: async () => null },
    headBlockHash: () => head,
    readRevision: new Int32Array(new SharedArrayBuffer(4)),
  });
  const stateOf = (headBlockHash: RootHex) => ({
    headBlockHash,
    safeBlockHash: ZERO_HASH,
    finalizedBlockHash: ZERO_HASH,
  });
  const requestOf = (slot: number, parentHash = head): PayloadRequest => ({
    fork: FORK,
    slot,
    parent: { blockHash: Buffer.from(parentHash.slice(2), "hex"), blockNumber: null },
    parentBeaconBlockRoot: rootOfSlot(slot - 1),
    timestamp: GENESIS_TIME + slot * SLOT_SECONDS,
    prevRandao: rootOfSlot(slot),
    feeRecipient: addressOf(1),
    withdrawals: [],
  });
  const begin = async (slot: number): Promise<string> => {
    const { payloadId } = await thread.forkchoiceUpdated(FORK, stateOf(head), requestOf(slot));
    return payloadId!;
  };
  const accept = async (slot: number, id: string) => {
    const { payload, executionRequests } = await thread.getPayload(FORK, id);
    const context = { parentBeaconBlockRoot: rootOfSlot(slot - 1), versionedHashes: [], executionRequests };
    payloads.set(toRootHex(rootOfSlot(slot)), { fork: FORK, payload, context });
    expect(await thread.notifyNewPayload(FORK, payload, context)).toEqual({ status: "valid" });
    head = toRootHex(payload.blockHash);
    expect(await thread.forkchoiceUpdated(FORK, stateOf(head))).toMatchObject({ verdict: { status: "valid" } });
    return payload;
  };
  return {
    thread,
    workers,
    logger,
    reading,
    storing,
    called,
    received,
    requestOf,
    begin,
    accept,
    build: async (slot: number) => accept(slot, await begin(slot)),
    /** Ends the current thread like a crash. */
    kill: () => workers.at(-1)!.terminate(),
  };
}
