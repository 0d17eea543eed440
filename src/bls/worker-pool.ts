import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "../log/logger.ts";
import { packSets } from "./packed-sets.ts";
import { type KeyedSignature, verifyBatch, verifyEachInBatch } from "./verify-batch.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** "all" is answered with one verdict for the whole job, "each" with one for every set. */
type Question = "all" | "each";

export interface WorkerRequest {
  id: number;
  question: Question;
  packed: Uint8Array;
}

export interface WorkerAnswer {
  id: number;
  verdicts: boolean[];
}

interface Job {
  question: Question;
  sets: readonly KeyedSignature[];
  resolve(verdicts: boolean[]): void;
  reject(error: Error): void;
}

interface Member {
  worker: Worker;
  jobs: Map<number, Job>;
}

interface WorkerPoolOptions {
  threads: number;
  logger?: Logger;
  /** Replaces the thread that is started; the default runs `worker.ts`. */
  startWorker?: () => Worker;
}

/**
 * Threads that verify signatures, started when the first job needs them. A thread that dies takes no answer with it:
 * its jobs are done on the calling thread, and the next job starts a replacement.
 */
export class WorkerPool {
  readonly threads: number;
  readonly #logger?: Logger;
  readonly #startWorker: () => Worker;
  readonly #members = new Set<Member>();
  #nextId = 0;
  #closed = false;

  constructor({ threads, logger, startWorker }: WorkerPoolOptions) {
    this.threads = threads;
    this.#logger = logger;
    this.#startWorker = startWorker ?? (() => new Worker(WORKER));
  }

  get closed(): boolean {
    return this.#closed;
  }

  run(question: Question, sets: readonly KeyedSignature[]): Promise<boolean[]> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const member = this.#leastBusyMember();
      const id = this.#nextId++;
      member.jobs.set(id, { question, sets, resolve, reject });
      // A thread at work keeps the process alive; an idle one must not.
      member.worker.ref();
      const packed = packSets(sets);
      member.worker.postMessage({ id, question, packed } satisfies WorkerRequest, [packed.buffer]);
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
    member.worker.on("message", ({ id, verdicts }: WorkerAnswer) => {
      const job = member.jobs.get(id);
      member.jobs.delete(id);
      if (member.jobs.size === 0) member.worker.unref();
      job?.resolve(verdicts);
    });
    member.worker.on("error", (error) => this.#retire(member, error));
    member.worker.on("exit", () => this.#retire(member));
    return member;
  }

  #retire(member: Member, error?: unknown): void {
    if (!this.#members.delete(member)) return;
    this.#logger?.warn("A signature verification thread died; its work is done on the main thread.", {
      jobs: member.jobs.size,
      error,
    });
    void member.worker.terminate();
    for (const { question, sets, resolve } of member.jobs.values()) {
      resolve(question === "all" ? [verifyBatch(sets)] : verifyEachInBatch(sets));
    }
    member.jobs.clear();
  }
}

export function closedError(): Error {
  return new Error("The signature verifier was closed, so the signatures were not verified.");
}
