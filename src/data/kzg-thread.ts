import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "../log/logger.ts";
import type { BlobBatch, CellBatch, CellsAndProofs, Kzg } from "./kzg.ts";
import type { KzgAnswer, KzgJobs, KzgRequest } from "./kzg-jobs.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = new URL(`./kzg-worker${extname(import.meta.url)}`, import.meta.url);

interface PendingJob {
  resolve(answer: KzgJobs[keyof KzgJobs]["answer"]): void;
  reject(error: Error): void;
}

/** Computes in a thread of its own, which is started by the first who needs it: the trusted setup takes seconds to be read. */
export class KzgThread implements Kzg {
  readonly #logger: Logger;
  readonly #startWorker: () => Worker;
  readonly #jobs = new Map<number, PendingJob>();
  #worker: Worker | undefined;
  #nextId = 0;
  #isClosed = false;

  constructor(logger: Logger, startWorker: () => Worker = () => new Worker(WORKER)) {
    this.#logger = logger;
    this.#startWorker = startWorker;
  }

  commitmentOf(blob: Uint8Array): Promise<Uint8Array> {
    return this.#run("commitmentOf", { blob });
  }

  blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array> {
    return this.#run("blobProofOf", { blob, commitment });
  }

  verifyBlobs(batch: BlobBatch): Promise<boolean> {
    return batch.blobs.length === 0 ? Promise.resolve(true) : this.#run("verifyBlobs", batch);
  }

  cellsOf(blob: Uint8Array): Promise<Uint8Array[]> {
    return this.#run("cellsOf", { blob });
  }

  cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs> {
    return this.#run("cellsAndProofsOf", { blob });
  }

  verifyCells(batch: CellBatch): Promise<boolean> {
    return batch.cells.length === 0 ? Promise.resolve(true) : this.#run("verifyCells", batch);
  }

  recover(cellIndices: readonly number[], cells: readonly Uint8Array[]): Promise<CellsAndProofs> {
    return this.#run("recover", { cellIndices, cells });
  }

  prepare(): void {
    if (!this.#isClosed) this.#worker ??= this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#fail(closedError());
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  #run<Kind extends keyof KzgJobs>(kind: Kind, input: KzgJobs[Kind]["input"]): Promise<KzgJobs[Kind]["answer"]> {
    if (this.#isClosed) return Promise.reject(closedError());
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#jobs.set(id, { resolve: resolve as PendingJob["resolve"], reject });
      // A thread at work keeps the process alive; an idle one must not.
      worker.ref();
      worker.postMessage({ id, kind, input } satisfies KzgRequest<Kind>);
    });
  }

  #start(): Worker {
    const worker = this.#startWorker();
    worker.unref();
    worker.on("message", (message: KzgAnswer) => {
      const job = this.#jobs.get(message.id);
      this.#jobs.delete(message.id);
      if (this.#jobs.size === 0) worker.unref();
      if ("failure" in message) job?.reject(new Error(message.failure));
      else job?.resolve(message.answer);
    });
    worker.on("error", (error) => this.#onDeath(worker, error));
    worker.on("exit", () => this.#onDeath(worker));
    return worker;
  }

  /** The next job starts another. */
  #onDeath(worker: Worker, error?: unknown): void {
    if (this.#worker !== worker || this.#isClosed) return;
    this.#worker = undefined;
    this.#logger.warn("The thread that verifies blobs died; another takes its place.", { error });
    this.#fail(new Error("The thread that verifies blobs died before it was done."));
  }

  #fail(error: Error): void {
    for (const job of this.#jobs.values()) job.reject(error);
    this.#jobs.clear();
  }
}

function closedError(): Error {
  return new Error("The node is being closed, so no more blobs are verified.");
}
