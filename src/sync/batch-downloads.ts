import type { Timers } from "../async/timers.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch } from "./batch.ts";
import type { BatchPeers } from "./batch-peers.ts";

interface BatchDownloadsParts {
  peers: SyncPeers;
  batchPeers: BatchPeers;
  timers: Pick<Timers, "sleep">;
  patienceMs: number;
  /** Whether everything waits for this batch. */
  isUrgent(batch: Batch): boolean;
  /** Called after a batch was downloaded, or was not. */
  onSettled(): void;
}

/** The requests of a run that are under way. */
export class BatchDownloads {
  readonly #parts: BatchDownloadsParts;
  readonly #closed = new AbortController();
  #count = 0;

  constructor(parts: BatchDownloadsParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#count;
  }

  begin(batch: Batch, peerId: string): void {
    batch.asking(peerId);
    this.#parts.batchPeers.begin(peerId);
    this.#count++;
    void this.#download(batch, peerId).then((succeeded) => {
      this.#count--;
      this.#parts.batchPeers.end(peerId, succeeded);
      if (!this.#closed.signal.aborted) this.#parts.onSettled();
    });
  }

  /** Ends what is under way; nothing is reported any more. */
  close(): void {
    this.#closed.abort();
  }

  async #download(batch: Batch, peerId: string): Promise<boolean> {
    const over = new AbortController();
    const given = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#closed.signal]);
    void this.#losePatience(batch, over, AbortSignal.any([given.signal, this.#closed.signal]));
    try {
      const blocks = await this.#parts.peers.blocksByRange(peerId, batch.range, signal);
      batch.downloaded(peerId, blocks);
      return true;
    } catch {
      // That a peer is slow, while another might be faster, says nothing against the batch.
      if (!over.signal.aborted) batch.failures++;
      batch.again();
      return false;
    } finally {
      given.abort();
    }
  }

  async #losePatience(batch: Batch, over: AbortController, given: AbortSignal): Promise<void> {
    const { timers, patienceMs, isUrgent, batchPeers } = this.#parts;
    try {
      do await timers.sleep(patienceMs, given);
      while (!isUrgent(batch) || !batchPeers.hasFresh(batch));
      over.abort();
    } catch {
      // The answer came, or the run is over.
    }
  }
}
