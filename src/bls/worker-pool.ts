import type { Logger } from "../log/logger.ts";
import { startThread, Thread, type ThreadPort } from "../threads/thread.ts";
import { BLS_ERRORS } from "./errors.ts";
import { doJob, type Jobs } from "./jobs.ts";

/** Options passed to a worker at start-up. */
export interface WorkerOptions {
  /** Lowers the thread's priority. */
  isBackground: boolean;
}

interface WorkerPoolOptions extends Partial<WorkerOptions> {
  threads: number;
  logger?: Logger;
  /** Replaces the worker thread, which runs `worker.ts` by default. */
  startWorker?: () => ThreadPort;
}

/**
 * Worker threads for signature and key operations, started on demand. If a thread dies, its jobs run on the calling
 * thread and the next job starts a replacement.
 */
export class WorkerPool {
  readonly threads: number;
  readonly #logger?: Logger;
  readonly #startWorker: () => ThreadPort;
  readonly #members = new Set<Thread>();
  #closed = false;

  constructor({ threads, isBackground = false, logger, startWorker }: WorkerPoolOptions) {
    this.threads = threads;
    this.#logger = logger;
    const workerData: WorkerOptions = { isBackground };
    this.#startWorker = startWorker ?? (() => startThread("./worker", import.meta.url, { workerData }));
  }

  get closed(): boolean {
    return this.#closed;
  }

  async run<Kind extends keyof Jobs>(kind: Kind, input: Jobs[Kind]["input"]): Promise<Jobs[Kind]["answer"]> {
    if (this.#closed) throw closedError();
    const { channel } = this.#leastBusyThread();
    try {
      return (await channel.call(kind, [input])) as Jobs[Kind]["answer"];
    } catch (error) {
      const hasDied = channel.isClosed && !this.#closed;
      if (!hasDied) throw error;
      return doJob(kind, input);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const members = [...this.#members];
    this.#members.clear();
    await Promise.all(members.map((thread) => thread.end(closedError())));
  }

  #leastBusyThread(): Thread {
    let idlest: Thread | undefined;
    for (const member of this.#members) {
      if (!idlest || member.channel.pending < idlest.channel.pending) idlest = member;
    }
    if (idlest && (idlest.channel.pending === 0 || this.#members.size >= this.threads)) return idlest;
    const started = new Thread(this.#startWorker(), {
      errors: BLS_ERRORS,
      onDeath: (thread, error) => this.#retire(thread, error),
    });
    this.#members.add(started);
    return started;
  }

  #retire(thread: Thread, error: unknown): void {
    this.#members.delete(thread);
    this.#logger?.warn("Signature verification thread died, continuing on the main thread", {
      jobs: thread.channel.pending,
      error,
    });
    void thread.end(new Error("The thread for signatures died."));
  }
}

export function closedError(): Error {
  return new Error("The signature verifier is closed.");
}
