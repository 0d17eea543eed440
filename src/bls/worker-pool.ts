import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "../log/logger.ts";
import { doJob, type Jobs } from "./jobs.ts";

/** Worker file with the extension of this file: compilers do not rewrite non-import paths. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

export interface WorkerRequest<Kind extends keyof Jobs = keyof Jobs> {
  id: number;
  kind: Kind;
  input: Jobs[Kind]["input"];
}

/** Options passed to a worker at start-up. */
export interface WorkerOptions {
  /** Lowers the thread's priority. */
  isBackground: boolean;
}

export interface WorkerAnswer {
  id: number;
  answer: Jobs[keyof Jobs]["answer"];
}

interface PendingJob {
  resolve(answer: Jobs[keyof Jobs]["answer"] | Promise<Jobs[keyof Jobs]["answer"]>): void;
  reject(error: Error): void;
  /** Runs the job on the calling thread. */
  doHere(): Promise<Jobs[keyof Jobs]["answer"]>;
}

interface Member {
  worker: Worker;
  jobs: Map<number, PendingJob>;
}

interface WorkerPoolOptions extends Partial<WorkerOptions> {
  threads: number;
  logger?: Logger;
  /** Replaces the worker thread; runs `worker.ts` by default. */
  startWorker?: () => Worker;
}

/**
 * Worker threads for signature and key operations, started on demand. If a thread dies, its jobs run on the calling
 * thread and the next job starts a replacement.
 */
export class WorkerPool {
  readonly threads: number;
  readonly #logger?: Logger;
  readonly #startWorker: () => Worker;
  readonly #members = new Set<Member>();
  #nextId = 0;
  #closed = false;

  constructor({ threads, isBackground = false, logger, startWorker }: WorkerPoolOptions) {
    this.threads = threads;
    this.#logger = logger;
    const workerData: WorkerOptions = { isBackground };
    this.#startWorker = startWorker ?? (() => new Worker(WORKER, { workerData }));
  }

  get closed(): boolean {
    return this.#closed;
  }

  run<Kind extends keyof Jobs>(kind: Kind, input: Jobs[Kind]["input"]): Promise<Jobs[Kind]["answer"]> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const member = this.#leastBusyMember();
      const id = this.#nextId++;
      member.jobs.set(id, { resolve, reject, doHere: async () => doJob(kind, input) });
      // A busy thread keeps the process alive, an idle one does not.
      member.worker.ref();
      member.worker.postMessage({ id, kind, input } satisfies WorkerRequest<Kind>);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const members = [...this.#members];
    this.#members.clear();
    for (const { jobs } of members) {
      for (const job of jobs.values()) job.reject(closedError());
      jobs.clear();
    }
    await Promise.all(members.map(({ worker }) => worker.terminate()));
  }

  #leastBusyMember(): Member {
    let least: Member | undefined;
    for (const member of this.#members) {
      if (!least || member.jobs.size < least.jobs.size) least = member;
    }
    if (least && (least.jobs.size === 0 || this.#members.size >= this.threads)) return least;
    return this.#addMember();
  }

  #addMember(): Member {
    const member: Member = { worker: this.#startWorker(), jobs: new Map() };
    this.#members.add(member);
    member.worker.on("message", ({ id, answer }: WorkerAnswer) => {
      const job = member.jobs.get(id);
      member.jobs.delete(id);
      if (member.jobs.size === 0) member.worker.unref();
      job?.resolve(answer);
    });
    member.worker.on("error", (error) => this.#retire(member, error));
    member.worker.on("exit", () => this.#retire(member));
    return member;
  }

  #retire(member: Member, error?: unknown): void {
    if (!this.#members.delete(member)) return;
    this.#logger?.warn("Signature verification thread died, continuing on the main thread", {
      jobs: member.jobs.size,
      error,
    });
    void member.worker.terminate();
    for (const { doHere, resolve } of member.jobs.values()) resolve(doHere());
    member.jobs.clear();
  }
}

export function closedError(): Error {
  return new Error("The signature verifier is closed.");
}
