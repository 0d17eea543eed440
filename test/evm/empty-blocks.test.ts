import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type DevChain, type Snapshot, startDevChain } from "../../src/library/index.ts";

const VALUE = "0x1";

let chain: DevChain<"gloas">;
let start: Snapshot;
beforeAll(async () => {
  chain = await startDevChain({ fork: "gloas", validators: 16 });
  // A transaction waits for the next slot.
  await chain.client.call("evm_setAutomine", [false]);
  await chain.advance({ slots: 2 });
});
afterAll(() => chain.stop());
beforeEach(async () => {
  start = await chain.snapshot();
  return () => start.revert();
});

const blockNumber = async () => Number(await chain.eth.request({ method: "eth_blockNumber" }));
const blockAt = async (number: number) =>
  (await chain.eth.request({ method: "eth_getBlockByNumber", params: [`0x${number.toString(16)}`, false] }))!;
const hashOf = async (number: number) => (await blockAt(number)).hash;
const receiptOf = (hash: `0x${string}`) => chain.eth.request({ method: "eth_getTransactionReceipt", params: [hash] });
const isPending = async (hash: `0x${string}`) =>
  (await chain.eth.request({ method: "eth_getTransactionByHash", params: [hash] }))?.blockHash === null;

/** Sends a transfer between funded accounts. */
function send() {
  const [from, to] = chain.accounts.map(({ address }) => address);
  return chain.eth.request({ method: "eth_sendTransaction", params: [{ from: from!, to: to!, value: VALUE }] });
}

it("the execution layer skips a withheld payload, whose transactions return to the pool", async () => {
  const before = await blockNumber();
  const hash = await send();
  await chain.payload.withhold();
  await chain.advance();
  expect([await blockNumber(), await isPending(hash), await receiptOf(hash)]).toEqual([before, true, null]);
  const { number, hash: blockHash, timestamp, baseFeePerGas, gasLimit } = await blockAt(before);
  expect(await chain.client.anvil_nodeInfo()).toMatchObject({
    currentBlockNumber: number,
    currentBlockTimestamp: Number(timestamp),
    currentBlockHash: blockHash,
    hardFork: "Amsterdam",
    environment: { baseFee: baseFeePerGas, gasLimit },
    beacon: { slot: "3", fork: "gloas" },
  });
  await chain.advance();
  expect(await blockNumber()).toBe(before + 1);
  expect(await receiptOf(hash)).toMatchObject({ status: "0x1", blockNumber: `0x${(before + 1).toString(16)}` });
  expect((await chain.head()).head_slot).toBe("4");
});

it("a reorganisation from the full to the empty variant of a block reaches the execution layer", async () => {
  const before = await blockNumber();
  const hash = await send();
  await chain.payload.setVotes({ payloadPresent: false });
  await chain.advance();
  const { head_block_root: root } = await chain.head();
  const orphaned = await hashOf(before + 1);
  expect(await receiptOf(hash)).toMatchObject({ blockHash: orphaned });
  // The next proposer builds on the block, but not on its payload.
  await chain.advance();
  expect((await chain.block()).message.parent_root).toBe(root);
  expect(await chain.payload.get(root)).toMatchObject({ payload_status: "empty", is_imported: true });
  expect(await blockNumber()).toBe(before + 1);
  const replacing = await hashOf(before + 1);
  expect(replacing).not.toBe(orphaned);
  expect(await receiptOf(hash)).toMatchObject({ blockHash: replacing });
  expect((await blockAt(before + 1)).parentHash).toBe(await hashOf(before));
  await chain.advanceUntil("finalized");
});

it("a payload that is revealed after its slot changes the head of the execution layer, until a revert", async () => {
  const before = await blockNumber();
  const hash = await send();
  await chain.payload.withhold();
  await chain.payload.setVotes({ abstain: true });
  await chain.advance();
  const between = await chain.snapshot();
  expect(await chain.payload.reveal()).toMatchObject({ payload_status: "full" });
  expect(await receiptOf(hash)).toMatchObject({ blockHash: await hashOf(before + 1) });
  await chain.advance();
  expect(await blockNumber()).toBe(before + 2);
  await between.revert();
  expect([await blockNumber(), await isPending(hash)]).toEqual([before, true]);
  // Now the next proposer does without the payload.
  await chain.advance();
  await expect(chain.payload.reveal()).resolves.toMatchObject({ payload_status: "empty", is_imported: true });
  expect([await blockNumber(), await isPending(hash)]).toEqual([before + 1, false]);
  await chain.advance({ slots: 2 });
  expect(await blockNumber()).toBe(before + 3);
});

it.each(["falsify", "delay"] as const)("the transactions of a payload return to the pool: %s", async (fault) => {
  const before = await blockNumber();
  await chain.payload[fault]({ slots: 2 });
  const hash = await send();
  await chain.advance({ slots: 2 });
  await chain.advance();
  expect(await receiptOf(hash)).toMatchObject({ blockNumber: `0x${(before + 1).toString(16)}` });
  expect(await blockNumber()).toBe(before + 1);
});
