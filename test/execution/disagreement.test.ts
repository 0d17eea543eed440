import type { bellatrix, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { connectExecutionClients } from "../../src/node/execution/execution-client.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { emptyStoredChain, openStoredChain, type StoredChain } from "../support/chain/stored-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ExecutionClient } from "../support/execution/execution-client.ts";
import { NodeWithClient } from "../support/execution/node-with-client.ts";
import { answers, type Fault, syncing } from "../support/execution-layer/faults.ts";
import { type Hex, ZERO_HASH } from "../support/execution-layer/wire.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";

const HEAD = 12;

const hashOf = async (chain: BeaconChain, slot: number): Promise<Hex> => {
  const { signed } = (await chain.blocks.canonicalAtSlot(slot))!;
  return toRootHex((signed.message.body as bellatrix.BeaconBlockBody).executionPayload.blockHash) as Hex;
};

/** Simulates execution layer peers: passes on the payloads of the other client. */
async function bring(from: ExecutionClient, to: ExecutionClient): Promise<void> {
  for (const { method, params } of from.layer.calls.of("engine_newPayload")) await to.layer.call(method, ...params);
}

/** A node without validators, with its own execution client. */
async function follow(client: ExecutionClient, stored: StoredChain) {
  const logger = createRecordingLogger();
  const engine = await connectExecutionClients(client.nodeOptions().execution!, stored.config, logger);
  onTestFinished(() => engine.close());
  const opened = await openStoredChain(stored, { slot: HEAD, engine });
  opened.chain.start();
  return opened;
}

const invalidWith = (latestValidHash: string | null): Fault =>
  answers({
    payloadStatus: { status: "INVALID", latestValidHash, validationError: "The test wants it so." },
    payloadId: null,
  });

it("follows its own client's verdicts when clients disagree, also after a restart", async () => {
  const client = await ExecutionClient.open();
  const source = (await openDevChain(client.nodeOptions())).devChain;
  await source.clock.advanceTo(HEAD);
  const blocks = await Promise.all(
    Array.from({ length: HEAD }, async (_, index) => (await source.chain.blocks.canonicalAtSlot(index + 1))!.signed),
  );
  const verdicts: [name: string, condemn: (other: ExecutionClient) => Promise<void>, head: number][] = [
    ...variants({ fast: [3], full: [1, 3, 10] }).map(
      (depth): [string, (other: ExecutionClient) => Promise<void>, number] => [
        `an ancestor at depth ${depth}`,
        async ({ layer }) => layer.chain.condemn(await hashOf(source.chain, HEAD - depth + 1)),
        HEAD - depth,
      ],
    ),
    ...variants<RootHex | null>({ fast: [], full: [null, `0x${"ab".repeat(32)}`] }).map(
      (latestValidHash): [string, (other: ExecutionClient) => Promise<void>, number] => [
        `latestValidHash ${latestValidHash}`,
        async ({ layer }) =>
          void layer.faults.set("engine_forkchoiceUpdated", invalidWith(latestValidHash), { times: 1 }),
        HEAD - 1,
      ],
    ),
    [
      "the zero hash",
      async ({ layer }) => void layer.faults.set("engine_forkchoiceUpdated", invalidWith(ZERO_HASH), { times: 1 }),
      0,
    ],
  ];
  for (const [name, condemn, head] of verdicts) {
    const other = await ExecutionClient.open();
    const { faults, calls } = other.layer;
    faults.set("engine_newPayload", syncing);
    const judgeHeads = faults.set("engine_forkchoiceUpdated", syncing);
    const stored = await emptyStoredChain(source);
    const first = await follow(other, stored);
    for (const signed of blocks) await first.chain.importBlock(signed);
    expect(first.chain.head.slot, name).toBe(HEAD);
    expect(first.chain.status, name).toMatchObject({ isOptimistic: true, executionOffline: false });
    await first.close();

    // A restart changes nothing. It only sends the head and the oldest payload, again if the response changes the
    // engine's state.
    const from = calls.all.length;
    const second = await follow(other, stored);
    await calls.until(({ method }) => method.startsWith("engine_newPayload"), { from });
    expect(second.chain.head.slot, name).toBe(HEAD);
    expect(second.chain.status.isOptimistic, name).toBe(true);
    const questions = calls.all.slice(from).filter(({ method }) => /newPayload|forkchoice/.test(method));
    // Requests may be repeated while the client changes its state.
    const different = new Set(questions.map(({ params }) => JSON.stringify(params)));
    expect(different.size, name).toBeLessThanOrEqual(4);
    await condemn(other);
    judgeHeads();
    await second.chain.pendingVerdicts.retry();
    await vi.waitFor(() => expect(second.chain.head.slot, name).toBe(head));
    await second.chain.pendingVerdicts.retry();
    await vi.waitFor(() => expect(second.chain.status.isOptimistic, name).toBe(false));
    await second.close();

    const before = calls.of("engine_newPayload").length;
    const third = await follow(other, stored);
    expect(third.chain.head.slot, name).toBe(head);
    expect(third.chain.status.isOptimistic, name).toBe(false);
    expect(calls.of("engine_newPayload").length, name).toBe(before);
    await third.close();
  }
});

it("uses the next client while the first is offline, misses no slot, and keeps valid verdicts", async () => {
  const [first, second] = [await ExecutionClient.open(), await ExecutionClient.open()];
  const node = await NodeWithClient.open([first, second]);
  expect(await node.advance(3)).toEqual([]);
  await bring(first, second);
  node.takeLines();
  await first.stop();
  expect(await node.advance(2)).toEqual([]);
  expect(second.layer.chain.head.block.header.number).toBe(5n);
  expect(await node.condition()).toEqual({ isOptimistic: false, isOffline: false, health: 200 });
  expect(node.takeLines()).toEqual([
    "Execution client is offline",
    "Switched execution client",
    "Execution engine returned an unusable payload, requesting another",
  ]);

  // A valid block cannot become invalid later.
  const head = node.chain.head.root;
  second.layer.chain.condemn(await hashOf(node.chain, 5));
  expect(await node.advance(1)).toEqual([6]);
  expect(node.chain.head.root).toBe(head);
  expect(node.takeLines()).toContain("Execution client contradicts its earlier payload verdicts; check the client");
  await bring(second, first);
  await first.start();
  await node.timers.advance(100);
  await vi.waitFor(() => expect(node.takeLines()).toContain("Execution client reconnected"));
  expect(await node.advance(2)).toEqual([]);
});

if (isFullTier) {
  it("sends the missing blocks to a client that lost the chain, and continues", async () => {
    const [first, second] = [await ExecutionClient.open(), await ExecutionClient.open()];
    const node = await NodeWithClient.open([first, second]);
    await node.advance(4);
    await first.stop();
    const [missed] = await node.advance(1);
    expect([undefined, 5]).toContain(missed);
    await vi.waitFor(() => expect(second.layer.chain.head.hash).toBe(first.layer.chain.head.hash));
    expect(await node.advance(2)).toEqual([]);
    // The missing blocks were searched backwards and sent once.
    const given = second.layer.calls.of("engine_newPayload").length;
    expect(given).toBeLessThanOrEqual(2 * 4 + 1 + 3);
  });
}

if (isFullTier) {
  it("continues after a restart in any state of its client", async () => {
    const client = await ExecutionClient.open();
    const { faults } = client.layer;
    const directory = tempDirectory();
    const opened = await NodeWithClient.open([client], {}, directory);
    await opened.advance(2);
    for (const method of ["engine_newPayload", "engine_forkchoiceUpdated"]) faults.set(method, syncing);
    await opened.advance(1);
    await opened.opened.close();
    const optimistic = await NodeWithClient.open([client], {}, directory);
    expect(optimistic.chain.head.slot).toBe(3);
    expect(await optimistic.condition()).toMatchObject({ isOptimistic: true, isOffline: false });
    faults.clear();
    expect(await optimistic.advance(1)).toEqual([]);
    await client.stop();
    await optimistic.advance(1);
    await optimistic.opened.close();

    const alone = await NodeWithClient.open([client], {}, directory);
    expect(alone.chain.head.slot).toBe(4);
    expect(await alone.condition()).toEqual({ isOptimistic: false, isOffline: true, health: 206 });
    await client.start();
    await alone.timers.advance(100);
    await vi.waitFor(() => expect(alone.chain.status.executionOffline).toBe(false));
    expect(await alone.advance(2)).toEqual([]);
  });
}
