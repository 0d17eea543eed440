import type { bellatrix } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { type OpenedDevChain, startQuietDevChain } from "../../test/support/chain/dev-chain.ts";
import { emptyStoredChain, openStoredChain } from "../../test/support/chain/stored-chain.ts";
import { invalid, ScriptedEngine, SYNCING, VALID } from "../../test/support/execution/scripted-engine.ts";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import { blocksOf, untilHead } from "../../test/support/sync/history.ts";
import { createLogger } from "../log/pino-logger.ts";
import { DEFAULT_SYNC_SETTINGS } from "./settings.ts";
import { Sync } from "./sync.ts";

const SLOTS = 12;
const BATCH_SLOTS = 4;

let source: OpenedDevChain;
let history: ServedBlock[];

beforeAll(async () => {
  source = await startQuietDevChain(SLOTS, { validators: 8, forks: [{ fork: "electra", epoch: 0 }] });
  history = await blocksOf(source.devChain);
});
afterAll(() => source.close());

const hashOf = ({ signed }: ServedBlock) =>
  toRootHex((signed.message.body as bellatrix.BeaconBlockBody).executionPayload.blockHash);

/** Opens a node at genesis, using a scripted execution engine. */
async function openFollower(peers: FakePeers) {
  const engine = new ScriptedEngine();
  const { chain, clock } = await openStoredChain(await emptyStoredChain(source.devChain), { slot: SLOTS, engine });
  chain.start();
  const log: string[] = [];
  const { logger } = createLogger({ format: "text", spec: "DEBUG", destination: { write: (line) => log.push(line) } });
  const sync = new Sync({
    settings: DEFAULT_SYNC_SETTINGS,
    chain,
    peers,
    logger,
    limits: { batchSlots: BATCH_SLOTS, backoffMs: 1, targetBackoffMs: 60_000 },
  });
  onTestFinished(() => sync.close());
  return { chain, clock, engine, sync, log };
}

it("range sync waits for the execution engine without new requests or penalties", async () => {
  const peers = new FakePeers();
  peers.add("honest", history);
  const { chain, engine, sync, log } = await openFollower(peers);
  engine.answer(hashOf(history[5]!), "error");
  sync.start();
  await vi.waitFor(() => expect(log.join()).toMatch(/WARN .*Sync is waiting for the execution engine/));
  expect(chain.head.root).toBe(history[4]!.root);
  engine.answer(hashOf(history[5]!), VALID);
  engine.enter("online");
  await untilHead(chain, history.at(-1)!.root);
  expect(peers.ranges).toHaveLength(SLOTS / BATCH_SLOTS);
  expect(peers.penalties).toEqual([]);
});

it("descendants of a block that waits for the execution engine wait too", async () => {
  const peers = new FakePeers();
  peers.add("sender", [], { status: { headSlot: 0, headRoot: new Uint8Array(32) } });
  const { chain, engine, sync } = await openFollower(peers);
  await chain.importSegment(history.slice(0, SLOTS - 3).map(({ signed }) => signed));
  sync.start();
  const [waiting, child, tip] = history.slice(-3);
  engine.answer(hashOf(waiting!), "error");
  await expect(chain.importBlock(waiting!.signed)).rejects.toMatchObject({ reason: "engine-unavailable" });
  sync.onUnknownParent(child!.signed, "sender");
  sync.onUnknownParent(tip!.signed, "sender");
  engine.answer(hashOf(waiting!), VALID);
  engine.enter("online");
  await untilHead(chain, tip!.root);
  expect(peers.roots).toEqual([]);
  expect(peers.penalties).toEqual([]);
});

it("a payload that the execution engine rejects is not penalized", async () => {
  const peers = new FakePeers();
  peers.add("optimistic", history);
  const { chain, engine, sync, log } = await openFollower(peers);
  engine.answer(hashOf(history[5]!), invalid(hashOf(history[4]!)));
  sync.start();
  await vi.waitFor(() => expect(log.join()).toMatch(/Range sync finished.*outcome=undelivered/));
  expect(chain.head.root).toBe(history[4]!.root);
  expect(log.join()).toMatch(/WARN .*Sync is stuck at a block that the execution client rejects/);
  // Gossip may refer to the block again, but the block is not fetched a second time.
  sync.onUnknownBlock(history[5]!.root, "optimistic");
  sync.onUnknownParent(history[6]!.signed, "optimistic");
  expect(peers.roots).toEqual([]);
  expect(peers.penalties).toEqual([]);
});

it("a wrong rejection by the execution client delays the sync only until the next query", async () => {
  const peers = new FakePeers();
  peers.add("honest", history.slice(0, 8));
  const { chain, clock, engine, sync, log } = await openFollower(peers);
  engine.otherwise = SYNCING;
  sync.start();
  await untilHead(chain, history[7]!.root);
  for (const block of history.slice(5)) engine.answer(hashOf(block), invalid(hashOf(history[4]!)));
  engine.enter("synced");
  await untilHead(chain, history[4]!.root);
  for (const length of [10, 11]) {
    peers.add("honest", history.slice(0, length));
    const { root } = history[length - 1]!;
    await vi.waitFor(() =>
      expect(log.join()).toMatch(new RegExp(`Range sync finished.*root=${root}.*outcome=undelivered`)),
    );
  }
  const logs = log.filter((line) => / WARN .*Sync is stuck at a block/.test(line));
  expect(logs).toEqual([expect.stringContaining(history[5]!.root)]);
  for (const block of history) engine.answer(hashOf(block), VALID);
  peers.remove("honest");
  await clock.advanceTo(SLOTS + 1);
  await untilHead(chain, history[7]!.root);
  peers.add("honest", history);
  await untilHead(chain, history.at(-1)!.root);
  expect(peers.penalties).toEqual([]);
});
