import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import { Signature } from "@chainsafe/blst";
import { LruMap } from "../../collections/lru-map.ts";
import type { Logger } from "../../log/logger.ts";
import { onThreadDeath, startThread } from "../../threads/thread.ts";
import type { SigningRequest } from "./signing-request.ts";

/**
 * Number of requests after which the thread is started. Starting the thread takes about as long as making this many
 * signatures.
 */
const MIN_REQUESTS_FOR_THREAD = 64;
/** Pending requests beyond this limit are dropped, since they would be signed too late. */
const MAX_PENDING = 16;
/** Maximum number of cached signatures: enough for the votes and reveals of a few slots. */
const MAX_CACHED = 64;

/** `workerData` of the signing thread. */
export interface SigningWorkerData {
  /** Carries requests and signatures. */
  port: MessagePort;
}

export interface SignedAhead {
  request: SigningRequest;
  /** Uncompressed. */
  signature: Uint8Array;
}

interface SigningThreadOptions {
  logger: Logger;
  /** Starts the worker thread; by default `signing-worker.ts`. */
  startWorker?: (workerData: SigningWorkerData) => Worker;
}

/**
 * Signs ahead of time in a worker thread, which is started once there is enough work. Callers never wait for the
 * thread: signatures that are not ready when needed are made on the calling thread.
 */
export class SigningThread {
  readonly #logger: Logger;
  readonly #startWorker: (workerData: SigningWorkerData) => Worker;
  readonly #signed = new LruMap<SigningRequest, Uint8Array>(MAX_CACHED);
  #requestCount = 0;
  #pendingCount = 0;
  #unsent: SigningRequest[] = [];
  #thread: { worker: Worker; port: MessagePort } | undefined;
  #isClosed = false;

  constructor({ logger, startWorker = startSigningWorker }: SigningThreadOptions) {
    this.#logger = logger;
    this.#startWorker = startWorker;
  }

  /** Queues a request that will be needed soon. */
  signAhead(request: SigningRequest): void {
    this.#requestCount++;
    if (this.#isClosed || this.#requestCount < MIN_REQUESTS_FOR_THREAD) return;
    this.#collect();
    if (this.#pendingCount >= MAX_PENDING) return;
    this.#thread ??= this.#start();
    this.#pendingCount++;
    // Waking a thread is expensive, so requests made in one turn are sent as a batch.
    if (this.#unsent.length === 0) queueMicrotask(() => this.#send());
    this.#unsent.push(request);
  }

  /** Returns the signature if the thread has finished it and it is still cached. */
  signedAhead(request: SigningRequest): Signature | undefined {
    this.#collect();
    const signature = this.#signed.get(request);
    return signature && Signature.fromBytes(signature);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.worker.terminate();
    this.#thread = undefined;
  }

  #send(): void {
    this.#thread?.port.postMessage(this.#unsent);
    this.#unsent = [];
  }

  /** Receives finished signatures synchronously, without returning to the event loop. */
  #collect(): void {
    if (!this.#thread) return;
    const { port } = this.#thread;
    for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
      const { request, signature }: SignedAhead = received.message;
      this.#signed.set(request, signature);
      this.#pendingCount--;
    }
  }

  #start() {
    const { port1: port, port2 } = new MessageChannel();
    const worker = this.#startWorker({ port: port2 });
    // Allows the process to exit while the thread is running.
    worker.unref();
    onThreadDeath(worker, (error) => this.#onDeath(error));
    return { worker, port };
  }

  #onDeath(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#thread = undefined;
    this.#logger.warn("Signing thread died, signing on the main thread", { error });
  }
}

function startSigningWorker(workerData: SigningWorkerData): Worker {
  return startThread("./signing-worker", import.meta.url, { workerData, transferList: [workerData.port] });
}
