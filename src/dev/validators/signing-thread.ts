import { extname } from "node:path";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { Signature } from "@chainsafe/blst";
import { LruMap } from "../../chain/lru-map.ts";
import type { Logger } from "../../log/logger.ts";
import type { SigningRequest } from "./signing-request.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = new URL(`./signing-worker${extname(import.meta.url)}`, import.meta.url);

/** About what it costs to start a thread, in signatures: a chain that asks for less is better off without one. */
const WORTH_A_THREAD = 64;
/** A thread that is so far behind would sign what nobody waits for any more. */
const MAX_UNDER_WAY = 16;
/** The votes and reveals of a few slots. */
const MAX_KEPT = 64;

/** What the thread is started with. */
export interface SigningWorkerData {
  /** By it requests come, and what was signed goes back. */
  port: MessagePort;
}

export interface SignedAhead {
  request: SigningRequest;
  /** Uncompressed. */
  signature: Uint8Array;
}

interface SigningThreadOptions {
  logger: Logger;
  /** Replaces the thread that is started; the default runs `signing-worker.ts`. */
  startWorker?: (workerData: SigningWorkerData) => Worker;
}

/**
 * Makes signatures beforehand in a thread of its own, which is started when there is enough for it to do. Nobody ever waits
 * for the thread: what it has not signed by the time it is wanted, or never will because it died, is signed by whoever wants it.
 */
export class SigningThread {
  readonly #logger: Logger;
  readonly #startWorker: (workerData: SigningWorkerData) => Worker;
  readonly #signed = new LruMap<SigningRequest, Uint8Array>(MAX_KEPT);
  #asked = 0;
  #underWay = 0;
  #unsent: SigningRequest[] = [];
  #thread: { worker: Worker; port: MessagePort } | undefined;
  #isOver = false;

  constructor({ logger, startWorker = startSigningWorker }: SigningThreadOptions) {
    this.#logger = logger;
    this.#startWorker = startWorker;
  }

  /** Begins with what will be wanted soon. */
  signAhead(request: SigningRequest): void {
    this.#asked++;
    if (this.#isOver || this.#asked < WORTH_A_THREAD) return;
    this.#collect();
    if (this.#underWay >= MAX_UNDER_WAY) return;
    this.#thread ??= this.#start();
    this.#underWay++;
    // To wake a thread is dear, so it is told at once of all that comes together.
    if (this.#unsent.length === 0) queueMicrotask(() => this.#send());
    this.#unsent.push(request);
  }

  /** What the thread has signed; undefined when it has not, or when that was long ago. */
  signedAhead(request: SigningRequest): Signature | undefined {
    this.#collect();
    const signature = this.#signed.get(request);
    return signature && Signature.fromBytes(signature);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#thread?.worker.terminate();
    this.#thread = undefined;
  }

  #send(): void {
    this.#thread?.port.postMessage(this.#unsent);
    this.#unsent = [];
  }

  /** Takes the answers that are there, in the middle of whatever this thread does. */
  #collect(): void {
    if (!this.#thread) return;
    const { port } = this.#thread;
    for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
      const { request, signature }: SignedAhead = received.message;
      this.#signed.set(request, signature);
      this.#underWay--;
    }
  }

  #start() {
    const { port1: port, port2 } = new MessageChannel();
    const worker = this.#startWorker({ port: port2 });
    // Nobody waits for it, so it need not keep the process alive, even while it signs.
    worker.unref();
    worker.on("error", (error) => this.#onDeath(error));
    worker.on("exit", () => this.#onDeath());
    return { worker, port };
  }

  #onDeath(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#thread = undefined;
    this.#logger.warn("The thread that signs for the validators died; all is signed on the main thread now.", {
      error,
    });
  }
}

function startSigningWorker(workerData: SigningWorkerData): Worker {
  return new Worker(WORKER, { workerData, transferList: [workerData.port] });
}
