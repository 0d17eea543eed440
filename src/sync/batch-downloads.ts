import type { SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Timers } from "../async/timers.ts";
import { bidOf } from "../chain/blocks/bid.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch } from "./batch.ts";
import type { BatchPeers } from "./batch-peers.ts";
import type { ServedPayloads } from "./served-payloads.ts";

interface BatchDownloadsParts {
  peers: SyncPeers;
  batchPeers: BatchPeers;
  timers: Pick<Timers, "sleep">;
  stallCheckMs: number;
  /** Returns true if the import is waiting for this batch. */
  isUrgent(batch: Batch): boolean;
  /** Called when a download has succeeded or failed. */
  onSettled(): void;
}

/** Downloads the batches of a range sync concurrently, and replaces stalled peers. */
export class BatchDownloads {
  readonly #parts: BatchDownloadsParts;
  readonly #closed = new AbortController();
  #count = 0;

  constructor(parts: BatchDownloadsParts) {
    this.#parts = parts;
  }

  /** Number of running downloads. */
  get count(): number {
    return this.#count;
  }

  /** Starts downloading a batch from a peer. */
  begin(batch: Batch, peerId: string): void {
    batch.startDownload(peerId);
    this.#parts.batchPeers.begin(peerId);
    this.#count++;
    void this.#download(batch, peerId).then((succeeded) => {
      this.#count--;
      this.#parts.batchPeers.end(peerId, succeeded);
      if (!this.#closed.signal.aborted) this.#parts.onSettled();
    });
  }

  /** Aborts all downloads. No callback is called afterwards. */
  close(): void {
    this.#closed.abort();
  }

  async #download(batch: Batch, peerId: string): Promise<boolean> {
    const stalled = new AbortController();
    const finished = new AbortController();
    const signal = AbortSignal.any([stalled.signal, this.#closed.signal]);
    void this.#abortIfStalled(batch, stalled, AbortSignal.any([finished.signal, this.#closed.signal]));
    try {
      const blocks = await this.#parts.peers.requests.blocksByRange(peerId, batch.range, signal);
      batch.downloaded(peerId, blocks, await this.#payloads(peerId, blocks, signal));
      return true;
    } catch {
      // Replacing a slow peer does not count as a failure of the batch.
      if (!stalled.signal.aborted) batch.failures++;
      batch.retry();
      return false;
    } finally {
      finished.abort();
    }
  }

  /** Requests the payloads of blocks since gloas from the same peer. The import looks for those that are missing. */
  async #payloads(peerId: string, blocks: readonly SignedBeaconBlock[], signal: AbortSignal): Promise<ServedPayloads> {
    const [first, last] = [blocks.find(({ message }) => bidOf(message) !== undefined), blocks.at(-1)];
    if (!first || !last) return new Map();
    const startSlot = first.message.slot;
    const range = { startSlot, count: last.message.slot - startSlot + 1 };
    try {
      const envelopes = await this.#parts.peers.requests.payloadsByRange(peerId, range, signal);
      return new Map(envelopes.map((envelope) => [toRootHex(envelope.message.beaconBlockRoot), { envelope, peerId }]));
    } catch (error) {
      if (signal.aborted) throw error;
      return new Map();
    }
  }

  async #abortIfStalled(batch: Batch, stalled: AbortController, signal: AbortSignal): Promise<void> {
    const { timers, stallCheckMs, isUrgent, batchPeers } = this.#parts;
    try {
      do await timers.sleep(stallCheckMs, signal);
      while (!isUrgent(batch) || !batchPeers.hasUntriedPeer(batch));
      stalled.abort();
    } catch {
      // The response arrived, or the run has ended.
    }
  }
}
