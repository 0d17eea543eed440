import { availableParallelism } from "node:os";
import type { Logger } from "../../log/logger.ts";
import { startThread, type ThreadPort } from "../../threads/thread.ts";
import type { KzgBackendName, KzgChoice } from "./backend.ts";
import { isRagged, splitBatch } from "./batches.ts";
import type { KzgJobs, KzgWorkerData, LoadReport } from "./jobs.ts";
import type { BlobBatch, CellBatch, CellsAndProofs, Kzg } from "./kzg.ts";
import { KzgWorkerPool, MAX_BATCH } from "./worker-pool.ts";

/** Each native proving thread has 100 MB of tables. */
const MAX_PROVING_THREADS = 4;

/**
 * Expected time per blob on one core, for verifying a peer's blob and for computing its cell proofs
 * (docs/benchmarks.md).
 */
const EXPECTED_TIMES: Record<KzgBackendName, { verifyBlob: string; proveBlob: string }> = {
  "node-eth-kzg": { verifyBlob: "3-10 ms", proveBlob: "0.2-1.5 s" },
  "c-kzg": { verifyBlob: "3-10 ms", proveBlob: "0.3-1.5 s" },
  portable: { verifyBlob: "70-530 ms", proveBlob: "10 s" },
};

interface ThreadedKzgOptions {
  backend?: KzgChoice;
  processors?: number;
  /** Replaces the worker threads, for tests. */
  startWorker?: (data: KzgWorkerData) => ThreadPort;
}

/**
 * Runs KZG operations in worker threads. Threads start with the first job, because the trusted setup takes seconds to
 * load. Cell proofs take hundreds of milliseconds and have their own threads, so that verification does not wait for
 * them.
 */
export class ThreadedKzg implements Kzg {
  readonly #verifying: KzgWorkerPool;
  readonly #proving: KzgWorkerPool;
  readonly #logger: Logger;
  readonly #loaded = Promise.withResolvers<KzgBackendName>();
  #backend: KzgBackendName | undefined;
  #isUnavailable = false;
  #isLoadAwaited = false;

  constructor(
    logger: Logger,
    {
      backend: choice = "auto",
      processors = availableParallelism(),
      startWorker = (workerData) => startThread("./worker", import.meta.url, { workerData }),
    }: ThreadedKzgOptions = {},
  ) {
    this.#logger = logger;
    this.#loaded.promise.catch(() => {});
    const pool = ({ threads, precompute }: { threads: number; precompute: boolean }) =>
      new KzgWorkerPool({
        logger,
        limit: () => this.#threadLimit(threads),
        startWorker: () => startWorker({ choice, precompute }),
        onLoaded: (report) => this.#onLoaded(report),
        onUnavailable: (error) => this.#onUnavailable(error),
      });
    this.#verifying = pool({ threads: processors < 4 ? 1 : 2, precompute: false });
    this.#proving = pool({ threads: Math.min(Math.max(1, processors - 1), MAX_PROVING_THREADS), precompute: true });
  }

  /**
   * Loads the backend and resolves to its name. Failures are left to the caller and not logged.
   *
   * @throws KzgUnavailableError
   */
  load(): Promise<KzgBackendName> {
    this.#isLoadAwaited = true;
    this.#verifying.prepare();
    return this.#loaded.promise;
  }

  async commitmentOf(blob: Uint8Array): Promise<Uint8Array> {
    return (await this.#verifying.run("commitmentOf", { blob }, { isUrgent: false })).commitment;
  }

  async blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array> {
    return (await this.#verifying.run("blobProofOf", { blob, commitment }, { isUrgent: false })).proof;
  }

  async verifyBlobs({ blobs, commitments, proofs }: BlobBatch): Promise<boolean> {
    const parts = partsOf({ blobs, commitments, proofs }, MAX_BATCH.verifyBlobs);
    return parts !== null && allTrue(parts.map((part) => this.#verifying.run("verifyBlobs", part)));
  }

  async cellsOf(blob: Uint8Array): Promise<Uint8Array[]> {
    return (await this.#verifying.run("cellsOf", { blob })).cells;
  }

  cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs> {
    return this.#proving.run("cellsAndProofsOf", { blob });
  }

  async verifyCells({ commitments, cellIndices, cells, proofs }: CellBatch): Promise<boolean> {
    const parts = partsOf({ commitments, cellIndices, cells, proofs }, MAX_BATCH.verifyCells);
    return parts !== null && allTrue(parts.map((part) => this.#verifying.run("verifyCells", part)));
  }

  recover(cellIndices: readonly number[], cells: readonly Uint8Array[]): Promise<CellsAndProofs> {
    return this.#proving.run("recover", { cellIndices, cells });
  }

  prepare(): void {
    this.#verifying.prepare();
  }

  async close(): Promise<void> {
    await Promise.all([this.#verifying.close(), this.#proving.close()]);
  }

  /** Each portable thread has its own setup and slows the others down, so only two run: one verifies, one proves. */
  #threadLimit(threads: number): number {
    return this.#backend === undefined || this.#backend === "portable" ? 1 : threads;
  }

  #onLoaded({ backend, skipped }: LoadReport): void {
    if (this.#backend !== undefined) return;
    this.#backend = backend;
    this.#loaded.resolve(backend);
    this.#logger.notice("KZG backend loaded", {
      backend,
      ...EXPECTED_TIMES[backend],
      ...fallbackHint(backend, skipped),
    });
    this.#verifying.advance();
    this.#proving.advance();
  }

  #onUnavailable(error: Error): void {
    if (this.#isUnavailable) return;
    this.#isUnavailable = true;
    this.#loaded.reject(error);
    if (!this.#isLoadAwaited) this.#logger.error("No KZG backend available, blobs cannot be verified", { error });
    this.#verifying.giveUp(error);
    this.#proving.giveUp(error);
  }
}

/** Explains why the portable backend is used, and how to get a faster one. */
function fallbackHint(backend: KzgBackendName, skipped: readonly string[]): { reason?: string; hint?: string } {
  if (backend !== "portable" || skipped.length === 0) return {};
  return {
    reason: skipped[0],
    hint: "verification of peers' blobs is slow; npm install c-kzg compiles a faster backend",
  };
}

/** Returns null if the lists differ in length. */
function partsOf<B extends BlobBatch | CellBatch>(batch: B, limit: number): (B & { groups: number[] })[] | null {
  if (isRagged(batch)) return null;
  return splitBatch(batch, limit).map((part) => ({ ...part, groups: [part.commitments.length] }));
}

async function allTrue(
  results: readonly Promise<KzgJobs["verifyBlobs" | "verifyCells"]["result"]>[],
): Promise<boolean> {
  return (await Promise.all(results)).every(({ verdicts }) => verdicts[0]);
}
