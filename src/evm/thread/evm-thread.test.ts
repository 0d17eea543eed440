import type { ExecutionPayload } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { addressOf, bytesOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { FORK, openThread, ZERO_HASH } from "../../../test/support/evm/thread/evm-thread.ts";
import { Filters } from "../eth/logs/filters.ts";
import { PoolError } from "../pool/pool-error.ts";
import { ThreadStoppedError } from "./thread-stopped.ts";

/** JUMPDEST, PUSH1 0, JUMP. */
const ENDLESS_LOOP = bytesOf("5b600056");
/** Emits a log without topics and deploys no code. */
const LOGGING_CODE = bytesOf("60006000a000");

it("builds and verifies in its thread, and rejects transactions with the errors of the pool", async () => {
  const { thread, build } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  const sent = signer.signRaw(0, { to: addressOf(5) as never, value: 1n });
  const hash = await thread.addTransaction(sent);
  const refused = await thread.addTransaction(sent).catch((error) => error);
  expect(refused).toBeInstanceOf(PoolError);
  expect(refused.code).toBe("alreadyKnown");
  expect(hash).toHaveLength(32);
  const { transactions, blockNumber } = await build(1);
  expect([transactions.map((raw) => Buffer.from(raw)), blockNumber]).toEqual([[Buffer.from(sent)], 1]);
  await expect(thread.getPayload(FORK, "0x99")).rejects.toThrow("Unknown payload id 0x99");
});

it("returns a payload that was built ahead, unless something has changed since", async () => {
  const { thread, called, requestOf, begin, accept, build } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  const transfer = () => signer.signRaw(0, { to: addressOf(5) as never, value: 1n });
  const buildAhead = async (slot: number) => {
    const id = await begin(slot);
    const { payload } = await thread.getPayload(FORK, id);
    thread.buildAhead(requestOf(slot + 1, toRootHex(payload.blockHash)));
    await accept(slot, id);
    called.length = 0;
  };
  await buildAhead(1);
  expect(await build(2)).toMatchObject({ blockNumber: 2, transactions: [] });
  expect(called).not.toContain("engine.buildPayload");

  await buildAhead(3);
  const sent = transfer();
  await thread.addTransaction(sent);
  expect((await build(4)).transactions.map((raw) => Buffer.from(raw))).toEqual([Buffer.from(sent)]);

  // The pool is not empty when building starts.
  await build(5);
  await thread.addTransaction(transfer());
  thread.buildAhead(requestOf(6));
  expect((await build(6)).transactions).toHaveLength(1);

  await buildAhead(7);
  await thread.service("control").override({ address: addressOf(9), balance: 1n });
  await build(8);
  expect(called).toContain("engine.buildPayload");

  await thread.capture(1);
  thread.buildAhead(requestOf(9));
  await thread.revert(1);
  called.length = 0;
  await build(9);
  expect(called).toContain("engine.buildPayload");

  thread.buildAhead(requestOf(10));
  called.length = 0;
  expect((await build(11)).timestamp).toBe(requestOf(11).timestamp);
  expect(called).toContain("engine.buildPayload");
});

it("knows without a call how many transactions are executable", async () => {
  const { thread, called, begin, accept } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  const transfer = (nonce: number) => signer.signRaw(0, { to: addressOf(5) as never, value: 1n, nonce: BigInt(nonce) });
  const counted = async () => {
    called.length = 0;
    return { count: await thread.executableCount(), called: [...called] };
  };
  expect(await counted()).toEqual({ count: 0, called: [] });
  await thread.addTransaction(transfer(1));
  expect(await counted()).toEqual({ count: 0, called: [] });
  await thread.addTransaction(transfer(0));
  expect(await counted()).toEqual({ count: 2, called: [] });
  const id = await begin(1);
  expect(await counted()).toEqual({ count: 2, called: [] });
  await accept(1, id);
  expect(await counted()).toEqual({ count: 0, called: [] });
  await thread.addTransaction(transfer(2));
  expect(await counted()).toEqual({ count: 1, called: [] });
  // While a call is pending, the number may change.
  const impersonating = thread.service("control").setImpersonatesAll(true);
  expect((await counted()).called).toContain("control.executableCount");
  await impersonating;
});

it("confirms a transaction only after it is stored, and drops it if it cannot be stored", async () => {
  const { thread, storing } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  const transfer = () => signer.signRaw(0, { to: addressOf(5) as never, value: 1n, nonce: 0n });
  const { promise: gate, reject } = Promise.withResolvers<void>();
  storing.gate = gate;
  const began = new Promise<void>((resolve) => {
    storing.began = resolve;
  });
  let isConfirmed = false;
  const sending = thread.addTransaction(transfer()).finally(() => {
    isConfirmed = true;
  });
  sending.catch(() => {});
  await began;
  // The thread has answered the call before this one.
  await thread.eth.call("poolStatus", {});
  expect(isConfirmed).toBe(false);
  reject(new Error("disk full"));
  await expect(sending).rejects.toThrow("could not be stored");
  storing.gate = undefined;
  expect(await thread.executableCount()).toBe(0);
  await thread.addTransaction(transfer());
  expect(await thread.executableCount()).toBe(1);
});

it("restarts a thread that stops, with the head and the pool, and repeats the calls of the chain", async () => {
  const { thread, build, begin, accept, kill, logger, workers, reading } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  await build(1);
  await thread.capture(1);
  await thread.addTransaction(signer.signRaw(0, { to: addressOf(5) as never, value: 1n }));
  const id = await begin(2);
  const dying = kill();
  const [, payload] = await Promise.all([dying, accept(2, id)]);
  // The payload contains the transaction pooled before the restart.
  expect([payload.blockNumber, payload.transactions.length]).toEqual([2, 1]);
  expect(workers).toHaveLength(2);
  expect(logger.records.map(({ message }) => message)).toEqual(["EVM thread stopped, restarting"]);
  // Snapshots are lost with the thread.
  expect(await thread.revert(1)).toBe(false);

  // Stop the thread again while it executes the blocks up to the head.
  const { promise: isReading, resolve: started } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  Object.assign(reading, { started, gate });
  await kill();
  const waiting = begin(3);
  await isReading;
  const wallet = thread.service("wallet").storageAt(addressOf(1), 0);
  open();
  expect((await accept(3, await waiting)).blockNumber).toBe(3);
  expect(await wallet).toEqual(new Uint8Array(0));
});

it("executes a block from the start if its thread stops in the middle of it", async () => {
  const { thread, build, begin, accept, kill, workers } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  await build(1);
  await thread.addTransaction(signer.signRaw(0, { to: addressOf(5) as never, value: 1n }));
  await thread.addTransaction(signer.signRaw(1, { data: ENDLESS_LOOP, gasLimit: 3_000_000n }));
  const beginning = begin(2);
  await kill();
  const { transactions, gasUsed } = await accept(2, await beginning);
  expect([transactions.length, gasUsed, workers.length]).toEqual([2, 3_021_000, 2]);
  expect((await build(3)).transactions).toEqual([]);
});

it("continues subscriptions and filters when its thread is restarted", async () => {
  const { thread, build, begin, accept, kill } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  const follow = (payload: ExecutionPayload) => {
    const latest = toRootHex(payload.blockHash);
    thread.eth.setTags({ latest, safe: ZERO_HASH, finalized: ZERO_HASH });
    return latest;
  };
  const send = async () => toRootHex(await thread.addTransaction(signer.signRaw(0, { data: LOGGING_CODE })));
  follow(await build(1));
  const heads: unknown[] = [];
  const end = thread.eth.subscribe({ kind: "newHeads" }, (results) => heads.push(...results));
  const filters = new Filters(thread.eth);
  const [blocks, pending, logs] = [filters.addBlocks(), filters.addPendingTransactions(), filters.addLogs({})];
  const sent = [await send()];
  const hashes = [follow(await build(2))];
  sent.push(await send());
  const id = await begin(3);
  // The thread stops before it is notified of the block it has built.
  const dying = kill();
  hashes.push(follow(await accept(3, id)));
  await dying;
  sent.push(await send());
  hashes.push(follow(await build(4)));
  expect(await filters.changes(blocks)).toEqual(hashes);
  expect(heads).toMatchObject(hashes.map((hash) => ({ hash })));
  expect(await filters.changes(pending)).toEqual(sent);
  const found = sent.map((transactionHash, index) => ({ transactionHash, blockHash: hashes[index], removed: false }));
  expect(await filters.changes(logs)).toMatchObject(found);
  end();
});

it("sends the logs of a block once for all filters that are equal", async () => {
  const { thread, build, received } = await openThread();
  const signer = await TestChain.open(optionsOf("osaka"));
  const filters = new Filters(thread.eth);
  const ids = Array.from({ length: 100 }, () => filters.addLogs({}));
  await thread.addTransaction(signer.signRaw(0, { data: LOGGING_CODE }));
  const latest = toRootHex((await build(1)).blockHash);
  thread.eth.setTags({ latest, safe: ZERO_HASH, finalized: ZERO_HASH });
  for (const id of ids) expect(await filters.changes(id)).toHaveLength(1);
  expect(received.filter((method) => method === "deliver")).toHaveLength(1);
});

it("fails other calls when its thread stops, and gives up after three stops", async () => {
  const { thread, kill, build, workers } = await openThread();
  const sending = thread.service("wallet").storageAt(addressOf(1), 0);
  const [lost] = await Promise.all([sending.catch((error) => error), kill()]);
  expect(lost).toBeInstanceOf(ThreadStoppedError);
  expect(lost.message).toBe("The EVM's thread stopped before it finished the call. It is being restarted: try again.");
  await build(1);
  await kill();
  await build(2);
  await kill();
  expect((await thread.failed).message).toMatch(/^The EVM's thread stopped 3 times within a minute, last with: /);
  await expect(build(3)).rejects.toThrow("stopped 3 times within a minute");
  expect(workers).toHaveLength(3);
});
