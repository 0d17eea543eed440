import { extname } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { threadEnvironment } from "../runtime/compile-cache.ts";
import { type CallHandler, Channel, type ChannelMessage, type ChannelPort } from "./channel.ts";
import type { ErrorRegistry } from "./error-registry.ts";

/** The part of a worker needed to detect its end. */
interface EndingPort {
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
}

/** The part of a worker that `Thread` uses. */
export interface ThreadPort extends ChannelPort, EndingPort {
  on(event: "message", listener: (messages: readonly ChannelMessage[]) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

interface ThreadOptions {
  /** Handles calls from the thread. */
  handle?: CallHandler;
  errors?: ErrorRegistry;
  /** Called once if the thread ends before `end` is called. */
  onDeath(thread: Thread, error: unknown): void;
}

/** A worker thread at the other end of a channel. It keeps the process alive only while calls to it are pending. */
export class Thread {
  readonly channel: Channel;
  readonly #worker: ThreadPort;

  constructor(worker: ThreadPort, { handle, errors, onDeath }: ThreadOptions) {
    this.#worker = worker;
    worker.unref();
    this.channel = new Channel(worker, { handle, errors, keepAlive: worker });
    onThreadDeath(worker, (error) => {
      if (!this.channel.isClosed) onDeath(this, error);
    });
  }

  /** Ends the thread. Pending and future calls fail with the error. */
  async end(error: Error): Promise<void> {
    this.channel.close(error);
    await this.#worker.terminate();
  }
}

/** Calls the listener once when a thread ends, with the error if the thread crashed. */
export function onThreadDeath(worker: EndingPort, listener: (error: unknown) => void): void {
  let isDead = false;
  const once = (error: unknown) => {
    if (!isDead) listener(error);
    isDead = true;
  };
  worker.on("error", once);
  worker.on("exit", (code) => once(new Error(`The thread ended with code ${code}.`)));
}

/**
 * Starts a thread that runs a module. The path is relative to the importing module and takes its extension, since the
 * compiler rewrites paths only in imports. Threads inherit Node's options, except for `--input-type`, which a thread
 * with a file rejects: it is only valid with `--eval`.
 */
export function startThread(path: string, importer: string, options: WorkerOptions = {}): Worker {
  const hasInputType = process.execArgv.some((option) => option.startsWith("--input-type"));
  return new Worker(new URL(`${path}${extname(importer)}`, importer), {
    env: threadEnvironment(),
    ...options,
    ...(hasInputType && { execArgv: [] }),
  });
}
