import { EventEmitter } from "node:events";
import { MessageChannel, MessagePort, type Worker } from "node:worker_threads";
import type { ThreadPort } from "./thread.ts";
import type { Movable } from "./transfer.ts";

/** Time after which an unused thread ends. */
const IDLE_MS = 10_000;
/** A thread that is busy for longer after its owner has left ends. */
const RELEASE_MS = 200;
/** Asks a thread to leave its owner. The thread answers with the same message. */
const RELEASE = "release";

/**
 * Threads that serve one owner after the other, since starting one takes longer than most of what it does in a test. An
 * owner has its own port to the thread, so nothing of it reaches the next owner. Threads do not keep the process alive.
 */
export class ThreadPool {
  readonly #start: () => Worker;
  /** Unused threads with the timers that end them. */
  readonly #unused = new Map<Worker, NodeJS.Timeout | undefined>();

  constructor(start: () => Worker) {
    this.#start = start;
  }

  /** Starts a thread for the next owner, unless one is unused, so that it loads its modules early. */
  preload(): void {
    if (this.#unused.size === 0) this.#unused.set(this.#startWorker(), undefined);
  }

  /** Returns a thread for one owner. Its `terminate` returns it to the pool. */
  take(): ThreadPort {
    const [worker = this.#startWorker()] = this.#unused.keys();
    clearTimeout(this.#unused.get(worker));
    this.#unused.delete(worker);
    return new PooledThread(worker, () => this.#keep(worker));
  }

  #startWorker(): Worker {
    const worker = this.#start();
    worker.unref();
    // An owner of the thread reports the error.
    worker.on("error", () => {});
    worker.on("exit", () => this.#unused.delete(worker));
    return worker;
  }

  #keep(worker: Worker): void {
    const end = () => {
      this.#unused.delete(worker);
      void worker.terminate();
    };
    this.#unused.set(worker, setTimeout(end, IDLE_MS).unref());
  }
}

/** In a thread of a pool: calls `serve` with the port of each owner, which is closed when the owner leaves. */
export function servePool(pool: MessagePort, serve: (port: MessagePort) => void): void {
  let owner: MessagePort | undefined;
  pool.on("message", (message: MessagePort | typeof RELEASE) => {
    if (message instanceof MessagePort) {
      owner = message;
      serve(message);
      return;
    }
    owner?.close();
    pool.postMessage(RELEASE);
  });
}

/** A thread as seen by one owner. */
class PooledThread implements ThreadPort {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #keep: () => void;
  readonly #events = new EventEmitter();
  readonly #onError = (error: unknown) => this.#events.emit("error", error);
  readonly #onExit = (code: number) => {
    this.#hasEnded = true;
    this.#events.emit("exit", code);
  };
  #hasEnded = false;

  constructor(worker: Worker, keep: () => void) {
    const { port1, port2 } = new MessageChannel();
    this.#worker = worker;
    this.#port = port1;
    this.#keep = keep;
    worker.on("error", this.#onError);
    worker.on("exit", this.#onExit);
    worker.postMessage(port2, [port2]);
    port1.on("message", (message) => this.#events.emit("message", message));
    port1.unref();
  }

  // biome-ignore lint/suspicious/noExplicitAny: the events of `ThreadPort` have values of different types.
  on(event: "message" | "error" | "exit", listener: (value: any) => void): void {
    this.#events.on(event, listener);
  }

  postMessage(message: unknown, moved: readonly Movable[] = []): void {
    this.#port.postMessage(message, moved);
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }

  async terminate(): Promise<void> {
    const worker = this.#worker;
    this.#port.close();
    const isFree = !this.#hasEnded && (await isReleased(worker));
    worker.off("error", this.#onError);
    worker.off("exit", this.#onExit);
    if (isFree) this.#keep();
    else await worker.terminate();
  }
}

/** Returns false if the thread ends or stays busy. */
async function isReleased(worker: Worker): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onMessage = () => resolve(true);
  const onExit = () => resolve(false);
  const timer = setTimeout(resolve, RELEASE_MS, false);
  worker.once("message", onMessage);
  worker.once("exit", onExit);
  worker.ref();
  worker.postMessage(RELEASE);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.unref();
    worker.off("message", onMessage);
    worker.off("exit", onExit);
  }
}
