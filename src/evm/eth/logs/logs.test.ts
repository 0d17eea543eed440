import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../../test/support/evm/engine/storage/memory-store.ts";
import { openEth } from "../../../../test/support/evm/eth/eth.ts";
import { bytesOf } from "../../../../test/support/evm/evm.ts";
import { toHex } from "../../execution/payload.ts";
import { CriteriaBudget } from "./criteria-budget.ts";
import { Filters } from "./filters.ts";
import type { LogQuery } from "./log-query.ts";
import { LogSearch } from "./log-search.ts";
import type { EthSubscription } from "./subscription.ts";

const LATEST = { tag: "latest" } as const;
const EARLIEST = { tag: "earliest" } as const;
type LogJson = Record<"address" | "blockNumber" | "blockHash" | "logIndex", string> & {
  topics: string[];
  removed: boolean;
};

const topic = (n: number): string => `0x${n.toString(16).padStart(64, "0")}`;
/** Init code that emits one log for each of these topics. */
const emitting = (...topics: number[]): Uint8Array =>
  bytesOf(`${topics.map((n) => `60${n.toString(16).padStart(2, "0")}60006000a1`).join("")}00`);

const parseLogs = (json: unknown): LogJson[] => JSON.parse(Buffer.from(json as Uint8Array).toString());

async function openLogs() {
  const { store, stored } = memoryStore();
  const history = { rootOf: async () => undefined, read: async () => null };
  const eth = await openEth({ history, store, kzg: { verify: async () => true } });
  const emit = async (account: number, ...topics: number[]) => {
    const raw = eth.chain.signRaw(account, { data: emitting(...topics) });
    return (await eth.service.call("sendRawTransaction", { raw })) as string;
  };
  const topicsOf = (logs: unknown) => (logs as LogJson[]).map(({ topics }) => Number(topics[0]));
  const getLogs = async (query: LogQuery) => parseLogs(await eth.service.call("getLogs", { query }));
  const query = async (criteria: LogQuery) => topicsOf(await getLogs(criteria));
  return { ...eth, stored, emit, getLogs, query, topicsOf };
}

describe("eth_getLogs", () => {
  it("finds logs by range, block, address and topics, in memory and in the archive", async () => {
    const { engine, service, mine, setHead, emit, getLogs, query, stored } = await openLogs();
    await emit(0, 1, 2);
    await emit(1, 3);
    const first = await mine();
    for (let n = 0; n < 140; n++) await mine();
    await emit(0, 2);
    await mine();
    const receipts = (await service.call("getBlockReceipts", { block: { number: 1n } })) as {
      contractAddress: string;
      logs: LogJson[];
    }[];
    const ofReceipts = receipts.flatMap(({ logs }) => logs);
    expect(await getLogs({ blockHash: toHex(first.hash) })).toEqual(ofReceipts);
    expect(ofReceipts.map(({ logIndex }) => logIndex)).toEqual(["0x0", "0x1", "0x2"]);
    const ask = async () => ({
      all: await query({ fromBlock: EARLIEST, toBlock: LATEST }),
      latest: await query({}),
      second: await query({ fromBlock: EARLIEST, topics: [[topic(2)]] }),
      either: await query({ fromBlock: EARLIEST, topics: [[topic(1), topic(3)]] }),
      wildcard: await query({ fromBlock: EARLIEST, topics: [null] }),
      longer: await query({ fromBlock: EARLIEST, topics: [null, null] }),
      address: await query({ fromBlock: EARLIEST, addresses: [receipts[1]!.contractAddress] }),
      block: await query({ blockHash: toHex(first.hash) }),
      none: await query({ fromBlock: { number: 2n }, toBlock: { number: 100n } }),
    });
    const results = await ask();
    expect(results).toEqual({
      all: [1, 2, 3, 2],
      latest: [2],
      second: [2, 2],
      either: [1, 3],
      wildcard: [1, 2, 3, 2],
      longer: [],
      address: [3],
      block: [1, 2, 3],
      none: [],
    });
    await setHead(engine.head, toHex(engine.head.hash));
    await expect.poll(() => stored.archived.length).toBe(142);
    expect(engine.blocks.get(toHex(first.hash))).toBeUndefined();
    expect(await ask()).toEqual(results);
    const [, second] = await getLogs({ blockHash: toHex(first.hash) });
    expect(second).toMatchObject({ blockNumber: "0x1", logIndex: "0x1", removed: false });
  });

  it("is bounded in blocks and results, and can be cancelled", async () => {
    const { service, mine, emit } = await openLogs();
    await emit(0, 1, 2, 3);
    const blockHash = toHex((await mine()).hash);
    await mine();
    const all = { fromBlock: EARLIEST };
    const limits = { blocks: 3, results: 3 };
    const search = new LogSearch(service.chain);
    expect(parseLogs(await search.find(all, undefined, limits))).toHaveLength(3);
    const code = -32005;
    await expect(search.find(all, undefined, { ...limits, blocks: 2 })).rejects.toMatchObject({ code });
    await expect(search.find(all, undefined, { ...limits, results: 2 })).rejects.toMatchObject({ code });
    await expect(search.find({ blockHash }, undefined, { ...limits, results: 2 })).rejects.toMatchObject({
      code,
      message: "query returned more than 2 results",
    });
    await expect(service.call("getLogs", { query: all }, AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
    await expect(service.call("getLogs", { query: { blockHash: topic(9) } })).rejects.toThrow("unknown block");
  });

  it.each([
    ["invalid block range params", { fromBlock: LATEST, toBlock: EARLIEST }],
    ["invalid block range params", { fromBlock: { number: 7n } }],
    ["block range extends beyond current head block", { fromBlock: EARLIEST, toBlock: { number: 2n } }],
    ["pending logs are not supported", { fromBlock: EARLIEST, toBlock: { tag: "pending" } as const }],
  ])("refuses a range as geth does: %s", async (message, query) => {
    const { service, mine } = await openLogs();
    await mine();
    await expect(service.call("getLogs", { query })).rejects.toMatchObject({ code: -32602, message });
  });
});

describe("filters", () => {
  it("return changes once, with removed logs after a reorganisation", async () => {
    const { chain, engine, service, mine, setHead, emit } = await openLogs();
    const filters = new Filters(service);
    const logs = filters.addLogs({ topics: [[topic(1)]] });
    const blocks = filters.addBlocks();
    const pending = filters.addPendingTransactions();
    const sent = await emit(0, 1, 2);
    const block = await mine();
    expect(await filters.changes(logs)).toMatchObject([{ topics: [topic(1)], removed: false }]);
    expect(await filters.changes(logs)).toEqual([]);
    expect(await filters.changes(blocks)).toEqual([toHex(block.hash)]);
    expect(await filters.changes(pending)).toEqual([sent]);
    const other = await engine.executor.build(engine.blocks.genesis, chain.attributes({}, engine.blocks.genesis));
    await setHead(other);
    const again = await mine();
    expect(await filters.changes(logs)).toMatchObject([
      { blockHash: toHex(block.hash), removed: true },
      { blockHash: toHex(again.hash), removed: false },
    ]);
    expect(await filters.changes(blocks)).toEqual([toHex(other.hash), toHex(again.hash)]);
    expect(parseLogs(await filters.logs(logs))).toMatchObject([{ blockHash: toHex(again.hash) }]);
    await expect(filters.logs(blocks)).rejects.toThrow("filter not found");
    expect(filters.remove(logs)).toBe(true);
    expect(filters.remove(logs)).toBe(false);
    await expect(filters.changes(logs)).rejects.toThrow("filter not found");
  });

  it("expire when they are not polled, and are bounded in number", async () => {
    const { service, mine } = await openLogs();
    let now = 0;
    const filters = new Filters(service, { now: () => now });
    const polled = filters.addBlocks();
    filters.addBlocks();
    now = 4 * 60_000;
    await filters.changes(polled);
    now = 6 * 60_000;
    await mine();
    expect(filters.size).toBe(1);
    expect(await filters.changes(polled)).toHaveLength(1);
    for (let n = 1; n < 1000; n++) filters.addBlocks();
    expect(() => filters.addBlocks()).toThrow("too many filters (limit 1000)");
    now = 12 * 60_000;
    filters.addBlocks();
    expect(filters.size).toBe(1);
  });

  it("say why they were dropped: for their age, or for the most unfetched changes beyond a limit in bytes", async () => {
    const { service, mine, emit } = await openLogs();
    let now = 0;
    const filters = new Filters(service, { now: () => now, maxBytes: 2500 });
    const blocks = filters.addBlocks();
    const one = filters.addLogs({ topics: [[topic(1)]] });
    const two = filters.addLogs({ topics: [[topic(1), topic(2)]] });
    await emit(0, 1, 2);
    await mine();
    expect(filters.size).toBe(2);
    await expect(filters.changes(two)).rejects.toThrow(
      "filter not found: the unfetched changes of all filters exceeded 2500 bytes, and it had the most",
    );
    expect(await filters.changes(one)).toHaveLength(1);
    // Changes that have been fetched no longer count.
    await emit(0, 1, 1);
    await mine();
    expect(await filters.changes(one)).toHaveLength(2);
    now = 6 * 60_000;
    await expect(filters.changes(blocks)).rejects.toThrow("filter not found: it was not polled for 5 minutes");
    await expect(filters.changes("0x99")).rejects.toThrow(/^filter not found$/);
  });
});

it("filters say that they were dropped since not all logs of a block can be delivered", async () => {
  let overload: (() => void) | undefined;
  const filters = new Filters({
    call: () => Promise.reject(new Error("not called")),
    delivered: async () => {},
    subscribe: (_subscription, _deliver, onOverload) => {
      overload = onOverload;
      return () => {};
    },
  });
  const id = filters.addLogs({});
  overload?.();
  await expect(filters.changes(id)).rejects.toThrow("filter not found: its chain has more filters and subscriptions");
});

describe("limits of addresses and topics", () => {
  const logs = (addresses: number, ...topics: (number | null)[]): EthSubscription => ({
    kind: "logs",
    addresses: Array<string>(addresses).fill(topic(1)),
    topics: topics.map((count) => count && Array<string>(count).fill(topic(1))) as string[][],
  });

  it("hold for one filter or subscription and for all of them together", () => {
    const budget = new CriteriaBudget();
    expect(() => budget.check(logs(250, 250, null, 501))).toThrow(
      "too many addresses and topics: filter or subscription has 1001, limit 1000",
    );
    const releases = Array.from({ length: 99 }, () => budget.take(logs(0, 500, 500)));
    releases.push(budget.take(logs(999)));
    budget.take({ kind: "newHeads" });
    budget.check(logs(1));
    expect(() => budget.take(logs(2))).toThrow(
      "too many addresses and topics in all filters and subscriptions: 99999 in use, 2 requested, limit 100000",
    );
    releases[0]!();
    releases[0]!();
    budget.take(logs(1000));
    expect(() => budget.take(logs(2))).toThrow("99999 in use");
  });
});

describe("filters of future blocks", () => {
  it("are allowed unless their range is reversed", async () => {
    const { service, mine, emit } = await openLogs();
    const filters = new Filters(service);
    const id = filters.addLogs({ fromBlock: { number: 2n }, toBlock: { number: 2n } });
    for (const n of [1, 2, 3]) {
      await emit(0, n);
      await mine();
    }
    expect(await filters.changes(id)).toMatchObject([{ topics: [topic(2)] }]);
    const reversed = { fromBlock: { number: 3n }, toBlock: { number: 2n } };
    expect(() => filters.addLogs(reversed)).toThrow("invalid block range params");
  });
});

describe("subscriptions", () => {
  it("deliver the head again when the chain goes back to it", async () => {
    const { service, mine, setHead } = await openLogs();
    const first = await mine();
    const heads: unknown[] = [];
    service.subscribe({ kind: "newHeads" }, (results) => heads.push(...results));
    await mine();
    await setHead(first);
    expect(heads).toMatchObject([{ number: "0x2" }, { hash: toHex(first.hash), number: "0x1" }]);
  });

  it("deliver heads, logs and transactions until they end", async () => {
    const { service, mine, emit, topicsOf } = await openLogs();
    const heads: unknown[] = [];
    const logs: unknown[] = [];
    const transactions: unknown[] = [];
    const ends = [
      service.subscribe({ kind: "newHeads" }, (results) => heads.push(...results)),
      service.subscribe({ kind: "logs", topics: [[topic(2)]] }, (results) => logs.push(...results)),
      service.subscribe({ kind: "newPendingTransactions", full: true }, (results) => transactions.push(...results)),
    ];
    const hash = await emit(0, 1, 2);
    const block = await mine();
    expect(heads).toMatchObject([
      { hash: toHex(block.hash), number: "0x1", parentHash: toHex(block.header.parentHash) },
    ]);
    expect(topicsOf(logs)).toEqual([2]);
    expect(transactions).toMatchObject([{ hash, blockHash: null }]);
    for (const end of ends) end();
    await emit(0, 2);
    await mine();
    expect([heads.length, logs.length, transactions.length]).toEqual([1, 1, 1]);
  });
});
