import { MessageChannel } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { openEngines, ZERO_HASH } from "../../../test/support/evm/engine/engines.ts";
import { GENESIS_TIME, GWEI, optionsOf, SLOT_SECONDS } from "../../../test/support/evm/evm.ts";
import { Channel } from "../../threads/channel.ts";
import { callService } from "../../threads/remote.ts";
import type { BlockId } from "../eth/block-id.ts";
import { SharedTags } from "../eth/shared-tags.ts";
import { BlockFeed } from "./block-feed.ts";
import { ReadHost } from "./read-host.ts";

const CHAIN = 1;

/** Opens a host for reads in the test's thread. */
async function openHost() {
  const opened = await openEngines();
  const engine = opened.open();
  const [node, feed] = [new MessageChannel(), new MessageChannel()];
  onTestFinished(() => {
    for (const { port1 } of [node, feed]) port1.close();
  });
  const blocks = new BlockFeed(engine);
  new Channel(feed.port1, { handle: (method, args) => callService(blocks, method, args) });
  const host = new ReadHost(node.port2, async () => {});
  const tags = new SharedTags();
  const options = { rules: optionsOf("osaka"), genesisTime: GENESIS_TIME, secondsPerSlot: SLOT_SECONDS };
  await host.open(CHAIN, options, feed.port2, { revision: engine.readRevision, tags: tags.memory });
  let lastRead = 0;
  /** Returns the fee history of one block, read at the given head. */
  const feesOf = async (latest: string, newest: BlockId = { tag: "latest" }) => {
    tags.set({ latest, safe: ZERO_HASH, finalized: ZERO_HASH });
    const read = { number: ++lastRead, name: "feeHistory", args: { count: 1, newest } } as const;
    const json = await host.read(CHAIN, read, new AbortController().signal);
    return JSON.parse(new TextDecoder().decode(json)) as { oldestBlock: string; baseFeePerGas: string[] };
  };
  return { ...opened, engine, feesOf };
}

it("a read sees the tags of when it starts, also those of a reorg", async () => {
  const { engine, build, feesOf } = await openHost();
  const first = await build(engine, 1);
  const second = await build(engine, 2);
  expect(await feesOf(first)).toMatchObject({ oldestBlock: "0x1" });
  expect(await feesOf(second)).toMatchObject({ oldestBlock: "0x2" });
  expect(await feesOf(first)).toMatchObject({ oldestBlock: "0x1" });
});

it("a base fee that is set for the next block is that after the head only", async () => {
  const { engine, build, feesOf } = await openHost();
  await build(engine, 1);
  const head = await build(engine, 2);
  const expected = await feesOf(head);
  const before = await feesOf(head, { number: 1n });
  await engine.override({ baseFeePerGas: 3n * GWEI });
  const [ofHead] = expected.baseFeePerGas;
  expect((await feesOf(head)).baseFeePerGas).toEqual([ofHead, `0x${(3n * GWEI).toString(16)}`]);
  expect(await feesOf(head, { number: 1n })).toEqual(before);
  expect(before.baseFeePerGas[1]).toBe(ofHead);
});
