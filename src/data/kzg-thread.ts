import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "../log/logger.ts";
import { isRagged, splitBatch } from "./batches.ts";
import type { BlobBatch, CellBatch, CellsAndProofs, Kzg } from "./kzg.ts";
import type { KzgJobs } from "./kzg-jobs.ts";
import { KzgLane, MOST_IN_JOB } from "./kzg-lane.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = new URL(`./kzg-worker${extname(import.meta.url)}`, import.meta.url);

/** Each has tables of 100 MB. */
const MOST_PROVING_THREADS = 4;

/** What a thread is told at its start: whether it is to make the tables by which proofs take half the time. */
export interface KzgWorkerData {
  isForProofs: boolean;
}

interface KzgThreadOptions {
  processors?: number;
  /** Replaces the threads that are started. */
  startWorker?: (data: KzgWorkerData) => Worker;
}

/**
 * Computes in threads, which are started by the first who needs them: the trusted setup takes seconds to be read. The proofs of cells
 * take hundreds of milliseconds, so that they have threads of their own and nobody else waits for them.
 */
export class KzgThread implements Kzg {
  readonly #verifying: KzgLane;
  readonly #proving: KzgLane;

  constructor(
    logger: Logger,
    {
      processors = availableParallelism(),
      startWorker = (workerData) => new Worker(WORKER, { workerData }),
    }: KzgThreadOptions = {},
  ) {
    this.#verifying = new KzgLane({
      logger,
      limit: processors < 4 ? 1 : 2,
      startWorker: () => startWorker({ isForProofs: false }),
    });
    this.#proving = new KzgLane({
      logger,
      limit: Math.min(Math.max(1, processors - 1), MOST_PROVING_THREADS),
      startWorker: () => startWorker({ isForProofs: true }),
    });
  }

  async commitmentOf(blob: Uint8Array): Promise<Uint8Array> {
    return (await this.#verifying.run("commitmentOf", { blob }, { isUrgent: false })).commitment;
  }

  async blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array> {
    return (await this.#verifying.run("blobProofOf", { blob, commitment }, { isUrgent: false })).proof;
  }

  async verifyBlobs({ blobs, commitments, proofs }: BlobBatch): Promise<boolean> {
    const parts = partsOf({ blobs, commitments, proofs }, MOST_IN_JOB.verifyBlobs);
    return parts !== null && allGood(parts.map((part) => this.#verifying.run("verifyBlobs", part)));
  }

  async cellsOf(blob: Uint8Array): Promise<Uint8Array[]> {
    return (await this.#verifying.run("cellsOf", { blob })).cells;
  }

  cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs> {
    return this.#proving.run("cellsAndProofsOf", { blob });
  }

  async verifyCells({ commitments, cellIndices, cells, proofs }: CellBatch): Promise<boolean> {
    const parts = partsOf({ commitments, cellIndices, cells, proofs }, MOST_IN_JOB.verifyCells);
    return parts !== null && allGood(parts.map((part) => this.#verifying.run("verifyCells", part)));
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
}

/** Null where it is not as many of each. */
function partsOf<B extends BlobBatch | CellBatch>(batch: B, most: number): (B & { groups: number[] })[] | null {
  if (isRagged(batch)) return null;
  return splitBatch(batch, most).map((part) => ({ ...part, groups: [part.commitments.length] }));
}

async function allGood(
  answers: readonly Promise<KzgJobs["verifyBlobs" | "verifyCells"]["answer"]>[],
): Promise<boolean> {
  return (await Promise.all(answers)).every(({ verdicts }) => verdicts[0]);
}
