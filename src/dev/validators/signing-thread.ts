import type { Worker } from "node:worker_threads";
import { Signature } from "@chainsafe/blst";
import type { Logger } from "../../log/logger.ts";
import { onThreadDeath, startThread } from "../../threads/thread.ts";
import { SigningQueue } from "./signing-queue.ts";
import { type SigningRequest, signRequest } from "./signing-request.ts";

/**
 * Number of requests after which the thread is started. Starting the thread takes about as long as making this many
 * signatures.
 */
const MIN_REQUESTS_FOR_THREAD = 64;

/** Longest wait for a signature that the thread is making: several times its duration. */
const MAX_WAIT_MS = 5;

/** `workerData` of the signing thread. */
export interface SigningWorkerData {
  /** Of the `SigningQueue`. */
  memory: SharedArrayBuffer;
}

interface SigningThreadOptions {
  logger: Logger;
  /** Starts the worker thread; by default `signing-worker.ts`. */
  startWorker?: (workerData: SigningWorkerData) => Worker;
}

/**
 * Signs ahead of time in a worker thread, which is started once there is enough work. The calling thread never idles:
 * it signs itself what the thread has not begun, and while it waits for a signature, it makes others of the queue.
 */
export class SigningThread {
  readonly #logger: Logger;
  readonly #startWorker: (workerData: SigningWorkerData) => Worker;
  readonly #queue = new SigningQueue();
  /** Cells of the queue by request, and the reverse. */
  readonly #cells = new Map<string, number>();
  readonly #requests = new Map<number, string>();
  #requestCount = 0;
  #isAnnouncing = false;
  #worker: Worker | undefined;
  #isClosed = false;

  constructor({ logger, startWorker = startSigningWorker }: SigningThreadOptions) {
    this.#logger = logger;
    this.#startWorker = startWorker;
  }

  /** Queues a request that will be needed soon. */
  signAhead(request: SigningRequest): void {
    this.#requestCount++;
    if (this.#isClosed || this.#requestCount < MIN_REQUESTS_FOR_THREAD) return;
    this.#worker ??= this.#start();
    const key = keyOf(request);
    if (this.#cells.has(key)) return;
    const cell = this.#queue.put(request);
    if (cell === undefined) return;
    this.#forget(cell);
    this.#cells.set(key, cell);
    this.#requests.set(cell, key);
    // Waking a thread is expensive, so requests made in one turn are announced together.
    if (this.#isAnnouncing) return;
    this.#isAnnouncing = true;
    queueMicrotask(() => {
      this.#isAnnouncing = false;
      this.#queue.announce();
    });
  }

  /** Returns the signature made ahead of time, or signs now. */
  sign(request: SigningRequest): Signature {
    const cell = this.#cells.get(keyOf(request));
    const signature = cell === undefined ? undefined : this.#fromQueue(cell);
    return signature ? Signature.fromBytes(signature) : signRequest(request);
  }

  async close(): Promise<void> {
    this.#end();
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  #fromQueue(cell: number): Uint8Array | undefined {
    const queue = this.#queue;
    if (queue.withdraw(cell)) {
      this.#forget(cell);
      return undefined;
    }
    while (queue.isTaken(cell)) {
      const other = queue.takeLast();
      if (!other) break;
      queue.complete(other.cell, signRequest(other.request).toBytes(false));
    }
    return queue.signature(cell, MAX_WAIT_MS);
  }

  #forget(cell: number): void {
    const key = this.#requests.get(cell);
    if (key === undefined) return;
    this.#requests.delete(cell);
    this.#cells.delete(key);
  }

  #start(): Worker {
    const worker = this.#startWorker({ memory: this.#queue.memory });
    // Allows the process to exit while the thread is running.
    worker.unref();
    onThreadDeath(worker, (error) => this.#onDeath(error));
    return worker;
  }

  #end(): void {
    this.#isClosed = true;
    this.#cells.clear();
    this.#requests.clear();
  }

  #onDeath(error: unknown): void {
    if (this.#isClosed) return;
    this.#end();
    this.#worker = undefined;
    this.#logger.warn("Signing thread died, signing on the main thread", { error });
  }
}

function keyOf({ secretKey, signingRoot }: SigningRequest): string {
  return Buffer.from(secretKey).toString("latin1") + Buffer.from(signingRoot).toString("latin1");
}

function startSigningWorker(workerData: SigningWorkerData): Worker {
  return startThread("./signing-worker", import.meta.url, { workerData });
}
