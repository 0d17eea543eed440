import { EngineUnavailableError } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { CallHandler, Channel } from "../../threads/channel.ts";
import { Thread, type ThreadPort } from "../../threads/thread.ts";
import { UnexecutableBlockError } from "../engine/unexecutable-block.ts";
import { EVM_ERRORS } from "./errors.ts";
import { ThreadStoppedError } from "./thread-stopped.ts";

interface SupervisedWorkerParts {
  startWorker(): ThreadPort;
  /** Handles calls from the thread. */
  handle: CallHandler;
  /** Initializes a new thread with the state of the chain. */
  prepare(channel: Channel): Promise<void>;
  logger: Logger;
}

const MAX_DEATHS = 3;
const DEATHS_WINDOW_MS = 60_000;

/** A worker thread that is restarted when it stops, unless it stops too often. */
export class SupervisedWorker {
  readonly #parts: SupervisedWorkerParts;
  readonly #failure = Promise.withResolvers<Error>();
  #thread: Thread;
  /** Resolves to the channel of the current thread once it is ready. */
  #ready = Promise.withResolvers<Channel>();
  /** Times at which the thread recently died, in milliseconds. */
  #deaths: number[] = [];
  #restarts = 0;
  #pending = 0;
  #isBegun = false;
  #isReady = false;
  #isStopped = false;

  /** Starts the thread, which loads its modules in the background. Calls wait for `begin`. */
  constructor(parts: SupervisedWorkerParts) {
    this.#parts = parts;
    this.#ready.promise.catch(() => {});
    this.#thread = this.#start();
  }

  /** Prepares the thread. Resolves once it is ready. */
  async begin(): Promise<void> {
    this.#isBegun = true;
    void this.#prepare(this.#thread);
    await this.#ready.promise;
  }

  /** Resolves if the thread stops too often to be restarted. */
  get failed(): Promise<Error> {
    return this.#failure.promise;
  }

  /** Resolves once the current thread is ready. Rejects if the thread will not be restarted. */
  get ready(): Promise<unknown> {
    return this.#ready.promise;
  }

  /** True if calls are sent immediately. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Number of threads that have stopped. */
  get restarts(): number {
    return this.#restarts;
  }

  /** True if the thread has answered all calls. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** Calls a method of the thread. If the thread stops, a repeatable call is sent again to the next thread. */
  async call(method: string, args: readonly unknown[], { isRepeated = false } = {}): Promise<unknown> {
    this.#pending++;
    try {
      return await this.#answerOf(method, args, isRepeated);
    } finally {
      this.#pending--;
    }
  }

  /** Calls a method of the thread without an answer. `args` are made once the thread is ready. */
  notify(method: string, args: () => readonly unknown[]): void {
    this.#channel().then(
      (channel) => channel.notify(method, args()),
      () => {},
    );
  }

  async #answerOf(method: string, args: readonly unknown[], isRepeated: boolean): Promise<unknown> {
    for (;;) {
      const channel = await this.#channel();
      try {
        return await channel.call(method, args);
      } catch (error) {
        if (!isRepeated || !(error instanceof ThreadStoppedError)) throw error;
      }
    }
  }

  /** Calls and notifications go through this in their order. */
  #channel(): Promise<Channel> {
    return this.#ready.promise.catch((error: Error) => {
      throw error instanceof UnexecutableBlockError ? unavailable(error) : error;
    });
  }

  /** Ends the thread. Pending and later calls fail. */
  async stop(): Promise<void> {
    await this.#end(new EngineUnavailableError("The node is shutting down; the EVM takes no more calls."));
  }

  #start(): Thread {
    const { startWorker, handle } = this.#parts;
    return new Thread(startWorker(), { handle, errors: EVM_ERRORS, onDeath: (...death) => this.#onDeath(...death) });
  }

  #onDeath(thread: Thread, error: unknown): void {
    if (thread !== this.#thread || this.#isStopped) return;
    const now = performance.now();
    this.#deaths = [...this.#deaths.filter((time) => now - time < DEATHS_WINDOW_MS), now];
    this.#restarts++;
    if (this.#deaths.length >= MAX_DEATHS) {
      const reason = error instanceof Error ? error.message : String(error);
      const failure = new EngineUnavailableError(
        `The EVM's thread stopped ${MAX_DEATHS} times within a minute, last with: ${reason}`,
        { cause: error },
      );
      this.#fail(failure);
      return;
    }
    this.#parts.logger.warn("EVM thread stopped, restarting", { error });
    if (this.#isReady) this.#ready = Promise.withResolvers();
    this.#isReady = false;
    this.#ready.promise.catch(() => {});
    void thread.end(new ThreadStoppedError());
    this.#thread = this.#start();
    if (this.#isBegun) void this.#prepare(this.#thread);
  }

  async #prepare(thread: Thread): Promise<void> {
    try {
      await this.#parts.prepare(thread.channel);
      if (thread !== this.#thread || this.#isStopped) return;
      this.#isReady = true;
      this.#ready.resolve(thread.channel);
    } catch (error) {
      // No thread could execute that block. After any other error, the thread is replaced.
      if (error instanceof UnexecutableBlockError && thread === this.#thread) this.#fail(error);
      else this.#onDeath(thread, error);
    }
  }

  #fail(failure: Error): void {
    void this.#end(failure);
    this.#failure.resolve(failure);
  }

  /** Ends the thread and fails all calls. */
  async #end(error: Error): Promise<void> {
    this.#isStopped = true;
    this.#isReady = false;
    this.#ready.reject(error);
    await this.#thread.end(error);
  }
}

/** Callers only need to know that the engine is unavailable. The cause is meant for the operator. */
const unavailable = (cause: UnexecutableBlockError) => new EngineUnavailableError(cause.message, { cause });
