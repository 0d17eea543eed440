import { EventEmitter, once } from "node:events";
import { type Transferable, Worker } from "node:worker_threads";
import type { ExecutionPayload } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { addressOf, bytesOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { blsPairingInput, repeat } from "../../../test/support/evm/precompiles/inputs.ts";
import { openThread, ZERO_HASH } from "../../../test/support/evm/thread/evm-thread.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { JsonBytes } from "../../json/json-bytes.ts";
import type { ChannelMessage } from "../../threads/channel.ts";
import type { EthArgs } from "../eth/eth-service.ts";
import type { ReadName } from "./read-limits.ts";
import { type ReadableChain, type ReadConnection, ReadThread } from "./read-thread.ts";

const LIMIT_MS = 500;
const FUNDED = bytesOf("f39fd6e51aad88f6f4ce6ab8827279cfffb92266");
const CONTRACT = addressOf(9);
/** Returns the balance of the account given in the input. */
const BALANCE_CODE = bytesOf("5f35315f5260205ff3");
/** Emits a log without topics and deploys no code. */
const LOGGING_CODE = bytesOf("60006000a000");
/** JUMPDEST, PUSH0, JUMP. */
const LOOP_CODE = bytesOf("5b5f56");
const GAS = 50_000_000n;
const PAIR = blsPairingInput(1);
/** A BLS12-381 pairing of 1,200 points, which takes seconds and cannot be interrupted. */
const STUCK_CALL = {
  to: bytesOf("000000000000000000000000000000000000000f"),
  data: repeat(1200, () => PAIR),
  gas: GAS,
};
/**
 * 48 million rounds of BLAKE2, which take a second and cannot be interrupted. The first round runs within a time slice.
 */
const LONG_CALL = {
  to: bytesOf("0000000000000000000000000000000000000009"),
  data: bytesOf(`02dc6c00${"00".repeat(208)}01`),
  gas: GAS,
};
/** Loads the curve used by `STUCK_CALL`. */
const SHORT_CALL = { ...STUCK_CALL, data: PAIR };
const TIMEOUT = { code: -32000, message: `execution aborted (timeout = ${LIMIT_MS / 1000}s)` };

interface Options {
  readLimit?: (name: ReadName) => number;
  graceMs?: number;
}

/** Creates a thread for reads and returns its workers, the current one last. */
function createReads({ readLimit = () => 60_000, graceMs = 500 }: Options = {}) {
  const workers: Worker[] = [];
  /** Resolves when a read is sent to the thread. */
  let sent = Promise.withResolvers<void>();
  const startWorker = () => {
    const worker = new Worker(new URL("../../node/eth-reads/worker.ts", import.meta.url));
    workers.push(worker);
    const { postMessage } = worker;
    worker.postMessage = (messages: readonly ChannelMessage[], transfer?: readonly Transferable[]) => {
      postMessage.call(worker, messages, transfer);
      if (messages.some(([kind, , method]) => kind === "call" && method === "read")) sent.resolve();
    };
    return worker;
  };
  const nextSent = () => {
    sent = Promise.withResolvers();
    return sent.promise;
  };
  return { reads: new ReadThread({ startWorker, readLimit, graceMs }), readWorkers: workers, nextSent };
}

/** For the tests with default options, one after the other. */
const shared = createReads();
afterAll(() => shared.reads.stop());

/** Opens an EVM whose reads run in a thread. */
async function openReads(options?: Options) {
  const { reads, readWorkers, nextSent } = options === undefined ? shared : createReads(options);
  if (options !== undefined) onTestFinished(() => reads.stop());
  const opened = await openThread(reads);
  const { thread, build } = opened;
  const follow = (payload: ExecutionPayload) => {
    const latest = toRootHex(payload.blockHash);
    thread.eth.setTags({ latest, safe: ZERO_HASH, finalized: ZERO_HASH });
  };
  const read = async <Name extends ReadName>(name: Name, args: EthArgs<Name>, signal?: AbortSignal) => {
    const result = await thread.eth.call(name, args, signal);
    return (result as JsonBytes).parse();
  };
  const override = thread.service("control").override;
  return {
    ...opened,
    reads,
    readWorkers,
    nextSent,
    read,
    override,
    mine: async (slot: number) => follow(await build(slot)),
    balanceOf: async (address: Uint8Array) => {
      const data = Buffer.concat([new Uint8Array(12), address]);
      return BigInt((await read("call", { call: { to: CONTRACT, data } })) as string);
    },
  };
}

it("sees every block, override, transaction and revert that was acknowledged before", async () => {
  const { thread, override, balanceOf, mine, read } = await openReads();
  const signer = await TestChain.open(optionsOf("osaka"));
  const receiver = addressOf(5);
  await override({ address: CONTRACT, code: BALANCE_CODE });
  expect(await balanceOf(receiver)).toBe(0n);
  for (let slot = 1; slot <= 9; slot++) {
    await thread.addTransaction(signer.signRaw(0, { to: receiver as never, value: 1n }));
    if (slot % 3 === 0) await override({ address: addressOf(6), balance: BigInt(slot) });
    if (slot % 3 === 0) expect(await balanceOf(addressOf(6))).toBe(BigInt(slot));
    await mine(slot);
    expect(await balanceOf(receiver)).toBe(BigInt(slot));
    expect(await balanceOf(addressOf(6))).toBe(BigInt(slot - (slot % 3)));
  }
  await thread.capture(1);
  await override({ address: receiver, balance: 7n });
  expect(await balanceOf(receiver)).toBe(7n);
  await thread.revert(1);
  expect(await balanceOf(receiver)).toBe(9n);

  await thread.addTransaction(signer.signRaw(0, { data: LOGGING_CODE }));
  const pending = { tag: "pending" } as const;
  expect(await read("getBlock", { block: pending })).toMatchObject({ transactions: [expect.any(String)] });
  await mine(10);
  expect(await read("getLogs", { query: {} })).toHaveLength(1);
});

it("estimates the gas of a transaction that its engine signs", async () => {
  const { thread, mine } = await openReads();
  await mine(1);
  const transaction = { from: FUNDED, to: addressOf(5), value: 1n };
  expect(await thread.eth.call("sendTransaction", { transaction })).toMatch(/^0x/);
  const failing = { from: FUNDED, to: addressOf(5), value: 10n ** 40n };
  await expect(thread.eth.call("sendTransaction", { transaction: failing })).rejects.toMatchObject({ code: -32000 });
});

it("ends reads at their limit with one error, and replaces a thread that is stuck", async () => {
  let limitMs = 60_000;
  const { override, read, mine, thread, readWorkers, nextSent, logger } = await openReads({
    readLimit: (name) => (name === "getLogs" ? 60_000 : limitMs),
  });
  await mine(1);
  await read("call", { call: SHORT_CALL });
  limitMs = LIMIT_MS;
  await override({ address: CONTRACT, code: LOOP_CODE });
  await mine(2);
  const looping = { to: CONTRACT, gas: GAS / 2n };
  const calls = [
    read("call", { call: looping }),
    read("estimateGas", { call: looping }),
    read("createAccessList", { call: looping }),
    read("traceCall", { call: looping, options: { tracer: "callTracer" } as never }),
    read("simulate", { simulation: { blockStateCalls: [{ calls: [looping] }] } }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject(TIMEOUT);
  expect(readWorkers).toHaveLength(1);

  // A precompile cannot be interrupted. Other reads are repeated, and the engine keeps running.
  limitMs = 60_000;
  await mine(3);
  await read("call", { call: { to: addressOf(5) } });
  limitMs = LIMIT_MS;
  const sent = nextSent();
  const stuck = read("call", { call: STUCK_CALL });
  await sent;
  await mine(4);
  await expect(stuck).rejects.toMatchObject(TIMEOUT);
  expect(await read("getLogs", { query: {} })).toEqual([]);
  expect(readWorkers).toHaveLength(2);
  expect(await thread.eth.call("blockNumber", {})).toBe("0x4");
  const [warning] = logger.records.filter(({ level }) => level === "warn");
  expect(warning).toMatchObject({
    message: "Read could not be stopped, replacing the thread for reads",
    fields: { method: "call" },
  });
});

it("counts the time on a replaced thread against the limit of a read", async () => {
  const { read, mine, readWorkers, nextSent } = await openReads({ readLimit: () => LIMIT_MS });
  await mine(1);
  await read("call", { call: { to: CONTRACT } });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let sent = nextSent();
  const stuck = expect(read("call", { call: STUCK_CALL })).rejects.toMatchObject(TIMEOUT);
  await sent;
  vi.advanceTimersByTime(LIMIT_MS - 1);
  sent = nextSent();
  await readWorkers[0]!.terminate();
  await sent;
  vi.advanceTimersByTime(1);
  await stuck;
});

it("ends a read whose caller is gone", async () => {
  const { read, mine, readWorkers, nextSent } = await openReads({ graceMs: 50 });
  await mine(1);
  await read("call", { call: { to: CONTRACT } });
  const caller = new AbortController();
  const sent = nextSent();
  const stuck = read("call", { call: LONG_CALL }, caller.signal);
  await sent;
  caller.abort(new Error("hung up"));
  await expect(stuck).rejects.toThrow("hung up");
  expect(await read("getLogs", { query: {} })).toEqual([]);
  expect(readWorkers).toHaveLength(2);
});

it("follows a new engine after its thread was restarted", async () => {
  const { override, balanceOf, mine, kill, readWorkers } = await openReads();
  await override({ address: CONTRACT, code: BALANCE_CODE });
  await override({ address: addressOf(5), balance: 5n });
  await mine(1);
  expect(await balanceOf(addressOf(5))).toBe(5n);
  const { length } = readWorkers;
  await kill();
  await mine(2);
  expect(await balanceOf(addressOf(5))).toBe(5n);
  await override({ address: addressOf(5), balance: 6n });
  expect(await balanceOf(addressOf(5))).toBe(6n);
  expect(readWorkers).toHaveLength(length);
});

it("offers a connection to each replica after its first read, for callers in other threads", async () => {
  const { thread, override, mine, balanceOf, readWorkers, logger } = await openReads();
  const connections: ReadConnection[] = [];
  thread.onReadConnection((connection) => connections.push(connection));
  await override({ address: CONTRACT, code: BALANCE_CODE });
  await mine(1);
  expect(await balanceOf(addressOf(5))).toBe(0n);
  const { length } = readWorkers;
  await expect.poll(() => connections.length).toBe(1);
  const [{ port, replace }] = connections as [ReadConnection];
  const answer = once(port, "message");
  const [to, input] = [CONTRACT, addressOf(6)].map(
    (bytes) => `0x${Buffer.from(bytes).toString("hex").padStart(40, "0")}`,
  );
  await override({ address: addressOf(6), balance: 6n });
  const params = JSON.stringify([{ to, data: `0x${"00".repeat(12)}${input!.slice(2)}` }]);
  port.postMessage([["call", 1, "eth_call", params, undefined]]);
  const [[[kind, id, json]]] = (await answer) as [[[string, number, string]]];
  expect([kind, id, BigInt(JSON.parse(json))]).toEqual(["result", 1, 6n]);

  const closed = once(port, "close");
  replace("eth_call");
  await closed;
  expect(await balanceOf(addressOf(6))).toBe(6n);
  await expect.poll(() => connections.length).toBe(2);
  expect(readWorkers).toHaveLength(length + 1);
  // The first connection has ended, so it can no longer replace the thread.
  replace("eth_call");
  expect(logger.records.filter(({ level }) => level === "warn")).toHaveLength(1);
});

it("repeats a read as often as its thread is replaced because of other reads", async () => {
  let isStuck = true;
  /** Opens chains, but responds to reads only while not stuck, with an empty result. */
  class ScriptedWorker extends EventEmitter {
    postMessage([message]: [ChannelMessage]): void {
      if (message[0] !== "call" || (message[2] !== "open" && isStuck)) return;
      queueMicrotask(() => this.emit("message", [["result", message[1], new Uint8Array()]]));
    }
    ref(): void {}
    unref(): void {}
    async terminate(): Promise<void> {}
  }
  const workers: ScriptedWorker[] = [];
  const startWorker = () => workers[workers.push(new ScriptedWorker()) - 1]!;
  const reads = new ReadThread({ startWorker, graceMs: 0 });
  const logger = createRecordingLogger();
  const chain = { logger, connect: async () => ({}), connectionListener: () => undefined } as unknown as ReadableChain;
  const read = (signal?: AbortSignal) => reads.read(async () => chain, { name: "call", args: {} }, signal);
  const patient = read();
  for (let replaced = 1; replaced <= 4; replaced++) {
    await expect(read(AbortSignal.timeout(1))).rejects.toThrow("timeout");
    isStuck = replaced < 4;
    await expect.poll(() => workers.length).toBe(1 + replaced);
  }
  expect(await patient).toBeInstanceOf(JsonBytes);
});

it("repeats reads if its thread stops", async () => {
  const { override, balanceOf, mine, readWorkers, logger } = await openReads();
  await override({ address: CONTRACT, code: BALANCE_CODE });
  await mine(1);
  expect(await balanceOf(addressOf(5))).toBe(0n);
  const { length } = readWorkers;
  const read = balanceOf(addressOf(5));
  await readWorkers.at(-1)!.terminate();
  expect(await read).toBe(0n);
  expect(logger.records.map(({ message }) => message)).toContain("Thread for reads stopped, restarting");
  expect(readWorkers.length).toBeGreaterThan(length);
});

it("reads in a thread that was started early", async () => {
  const { reads, override, balanceOf, readWorkers } = await openReads({});
  reads.preload();
  reads.preload();
  expect(readWorkers).toHaveLength(1);
  await override({ address: CONTRACT, code: BALANCE_CODE });
  expect(await balanceOf(addressOf(5))).toBe(0n);
  expect(readWorkers).toHaveLength(1);
});
