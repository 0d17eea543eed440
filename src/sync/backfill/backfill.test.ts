import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type OpenedDevChain, startQuietDevChain } from "../../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { openAnchoredAt } from "../../../test/support/sync/backfill/anchored-chain.ts";
import { FakePeers, type ServedBlock } from "../../../test/support/sync/fake-peers.ts";
import { blocksOf } from "../../../test/support/sync/history.ts";
import { DEFAULT_SYNC_SETTINGS, type SyncSettings } from "../settings.ts";
import { Backfill } from "./backfill.ts";

const ANCHOR_SLOT = 12;

let source: OpenedDevChain;
let history: ServedBlock[];
beforeAll(async () => {
  source = await startQuietDevChain(ANCHOR_SLOT + 1, { validators: 8 });
  history = await blocksOf(source.devChain);
}, 120_000);
afterAll(() => source?.close());

/** A scripted sync state. */
class FakeSync {
  isIdle = false;
  #tell: () => void = () => {};

  onIdle(listener: () => void): () => void {
    this.#tell = listener;
    return () => {};
  }

  rest(): void {
    this.isIdle = true;
    this.#tell();
  }
}

async function openBackfill(peers: FakePeers, settings: SyncSettings = DEFAULT_SYNC_SETTINGS) {
  const { chain } = await openAnchoredAt(ANCHOR_SLOT, source.devChain);
  const sync = new FakeSync();
  const logger = createRecordingLogger();
  const limits = { batchSlots: 4 };
  const backfill = new Backfill({ chain, peers, sync: sync as never, logger, limits, settings });
  backfill.start();
  return { chain, sync, backfill, logger };
}

it("backfill starts only when the sync is idle", async () => {
  const peers = new FakePeers();
  const { chain, sync, backfill } = await openBackfill(peers);
  peers.add("honest", history);
  await peers.untilQuiet();
  expect(peers.ranges).toEqual([]);

  sync.rest();
  await vi.waitFor(() => expect(chain.history.end).toBeNull());
  expect(peers.ranges.map(({ range }) => range.startSlot)).toEqual([8, 4, 1]);
  await backfill.close();
});

it("no history is fetched with 0 epochs", async () => {
  const peers = new FakePeers();
  peers.add("honest", history);
  const { sync, backfill } = await openBackfill(peers, { ...DEFAULT_SYNC_SETTINGS, backfillEpochs: 0 });
  sync.rest();
  await peers.untilQuiet();
  expect(peers.ranges).toEqual([]);
  await backfill.close();
});

it("close does not wait for an unresponsive peer", async () => {
  const peers = new FakePeers();
  const requested = Promise.withResolvers<void>();
  peers.add("silent", history, {
    byRange: (_, __, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        requested.resolve();
      }),
  });
  const { sync, backfill, logger } = await openBackfill(peers);
  sync.rest();
  await requested.promise;
  await backfill.close();
  expect(logger.records).toEqual([]);
});
