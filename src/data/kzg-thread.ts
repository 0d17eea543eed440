import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "../log/logger.ts";
import { isRagged, joinBatches, splitBatch } from "./batches.ts";
import type { BlobBatch, CellBatch, CellsAndProofs, Kzg } from "./kzg.ts";
import type { KzgAnswer, KzgJobs, KzgRequest } from "./kzg-jobs.ts";
import { inOneBuffer } from "./one-buffer.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = new URL(`./kzg-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Of blobs or cells in one job, which takes some 50 ms, so that nobody waits long behind somebody else's. Larger batches would hardly cost
 * less for each.
 */
const MOST_IN_JOB = { verifyBlobs: 16, verifyCells: 512 } as const;

/** A thread that dies may have died of the job. */
const MOST_ATTEMPTS = 2;

type Verification = keyof typeof MOST_IN_JOB;

interface Job<Kind extends keyof KzgJobs = keyof KzgJobs> {
  kind: Kind;
  input: KzgJobs[Kind]["input"];
  attempts: number;
  resolve(answer: KzgJobs[Kind]["answer"]): void;
  reject(error: Error): void;
}

/** Jobs of which so many run at once. */
interface Lane {
  readonly waiting: Job[];
  readonly limit: number;
  running: number;
}

interface KzgThreadOptions {
  /** The library computes in as many threads. */
  processors?: number;
  /** Replaces the thread that is started. */
  startWorker?: () => Worker;
}

/**
 * Computes in a thread of its own, which is started by the first who needs it: the trusted setup takes seconds to be read. Whatever
 * is to be verified while something else is being verified goes into one batch. A thread that dies is replaced, and does again what it
 * was about to do.
 */
export class KzgThread implements Kzg {
  readonly #logger: Logger;
  readonly #startWorker: () => Worker;
  /** What blocks and duties wait for. */
  readonly #urgent: Lane;
  /** What takes hundreds of milliseconds. It never takes all threads of the library. */
  readonly #heavy: Lane;
  readonly #running = new Map<number, { job: Job; lane: Lane }>();
  #worker: Worker | undefined;
  #nextId = 0;
  #isClosed = false;

  constructor(logger: Logger, { processors = availableParallelism(), startWorker }: KzgThreadOptions = {}) {
    this.#logger = logger;
    this.#startWorker = startWorker ?? (() => new Worker(WORKER));
    // Fewer verifications at once make larger batches.
    this.#urgent = { waiting: [], running: 0, limit: Math.max(1, processors >> 1) };
    this.#heavy = { waiting: [], running: 0, limit: Math.max(1, processors - 1) };
  }

  async commitmentOf(blob: Uint8Array): Promise<Uint8Array> {
    return (await this.#run(this.#heavy, "commitmentOf", { blob })).commitment;
  }

  async blobProofOf(blob: Uint8Array, commitment: Uint8Array): Promise<Uint8Array> {
    return (await this.#run(this.#heavy, "blobProofOf", { blob, commitment })).proof;
  }

  async verifyBlobs({ blobs, commitments, proofs }: BlobBatch): Promise<boolean> {
    const parts = partsOf({ blobs, commitments, proofs }, MOST_IN_JOB.verifyBlobs);
    return parts !== null && allGood(parts.map((part) => this.#run(this.#urgent, "verifyBlobs", part)));
  }

  async cellsOf(blob: Uint8Array): Promise<Uint8Array[]> {
    return (await this.#run(this.#urgent, "cellsOf", { blob })).cells;
  }

  cellsAndProofsOf(blob: Uint8Array): Promise<CellsAndProofs> {
    return this.#run(this.#heavy, "cellsAndProofsOf", { blob });
  }

  async verifyCells({ commitments, cellIndices, cells, proofs }: CellBatch): Promise<boolean> {
    const parts = partsOf({ commitments, cellIndices, cells, proofs }, MOST_IN_JOB.verifyCells);
    return parts !== null && allGood(parts.map((part) => this.#run(this.#urgent, "verifyCells", part)));
  }

  recover(cellIndices: readonly number[], cells: readonly Uint8Array[]): Promise<CellsAndProofs> {
    return this.#run(this.#heavy, "recover", { cellIndices, cells });
  }

  prepare(): void {
    if (!this.#isClosed) this.#worker ??= this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { waiting: urgent } = this.#urgent;
    const { waiting: heavy } = this.#heavy;
    const running = [...this.#running.values()].map(({ job }) => job);
    this.#running.clear();
    for (const job of [...running, ...urgent.splice(0), ...heavy.splice(0)]) job.reject(closedError());
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  #run<Kind extends keyof KzgJobs>(
    lane: Lane,
    kind: Kind,
    input: KzgJobs[Kind]["input"],
  ): Promise<KzgJobs[Kind]["answer"]> {
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const job: Job<Kind> = { kind, input, attempts: 0, resolve, reject };
      lane.waiting.push(job as Job);
      this.#advance(lane);
    });
  }

  #advance(lane: Lane): void {
    while (lane.running < lane.limit && lane.waiting.length > 0) this.#send(lane, nextOf(lane));
  }

  #send(lane: Lane, job: Job): void {
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    job.attempts++;
    lane.running++;
    this.#running.set(id, { job, lane });
    const { record, buffer } = inOneBuffer(job.input);
    // A thread at work keeps the process alive; an idle one must not.
    this.#worker.ref();
    this.#worker.postMessage({ id, kind: job.kind, input: record } satisfies KzgRequest, [buffer]);
  }

  #start(): Worker {
    const worker = this.#startWorker();
    worker.unref();
    worker.on("message", (message: KzgAnswer) => this.#onAnswer(worker, message));
    worker.on("error", (error) => this.#onDeath(worker, error));
    worker.on("exit", () => this.#onDeath(worker));
    return worker;
  }

  #onAnswer(worker: Worker, message: KzgAnswer): void {
    const answered = this.#running.get(message.id);
    if (answered === undefined) return;
    const { job, lane } = answered;
    this.#running.delete(message.id);
    lane.running--;
    this.#advance(lane);
    if (this.#running.size === 0) worker.unref();
    if ("failure" in message) job.reject(new Error(message.failure));
    else job.resolve(message.answer);
  }

  #onDeath(worker: Worker, error?: unknown): void {
    if (this.#worker !== worker || this.#isClosed) return;
    this.#worker = undefined;
    const interrupted = [...this.#running.values()];
    this.#running.clear();
    this.#logger.warn("The thread that verifies blobs died; another takes its place.", {
      jobs: interrupted.length,
      error,
    });
    for (const { job, lane } of interrupted.reverse()) {
      lane.running--;
      if (job.attempts < MOST_ATTEMPTS) lane.waiting.unshift(job);
      else job.reject(new Error("The thread that verifies blobs died before it was done."));
    }
    for (const lane of [this.#urgent, this.#heavy]) this.#advance(lane);
  }
}

/** Null where it is not as many of each. */
function partsOf<B extends BlobBatch | CellBatch>(batch: B, most: number): (B & { groups: number[] })[] | null {
  if (isRagged(batch)) return null;
  return splitBatch(batch, most).map((part) => ({ ...part, groups: [sizeOf(part)] }));
}

async function allGood(answers: readonly Promise<KzgJobs[Verification]["answer"]>[]): Promise<boolean> {
  return (await Promise.all(answers)).every(({ verdicts }) => verdicts[0]);
}

/** The first that waits; where it is a verification, together with the others that wait, as far as they make no too large batch. */
function nextOf({ waiting }: Lane): Job {
  const first = waiting.shift()!;
  if (!isVerification(first)) return first;
  const { kind } = first;
  const together = [first];
  let size = sizeOf(first.input);
  for (let index = 0; index < waiting.length; ) {
    const other = waiting[index]!;
    const isTaken = isVerification(other) && other.kind === kind && size + sizeOf(other.input) <= MOST_IN_JOB[kind];
    if (isTaken) {
      together.push(other);
      size += sizeOf(other.input);
      waiting.splice(index, 1);
    } else {
      index++;
    }
  }
  return together.length === 1 ? first : joined(together);
}

function joined(jobs: readonly Job<Verification>[]): Job {
  const [{ kind }] = jobs as [Job<Verification>];
  return {
    kind,
    input: joinBatches(jobs.map(({ input }) => input)),
    attempts: Math.max(...jobs.map(({ attempts }) => attempts)),
    resolve(answer) {
      const { verdicts } = answer as KzgJobs[Verification]["answer"];
      let from = 0;
      for (const { input, resolve } of jobs) {
        const { length } = input.groups;
        resolve({ verdicts: verdicts.slice(from, from + length) });
        from += length;
      }
    },
    reject(error) {
      for (const { reject } of jobs) reject(error);
    },
  };
}

const isVerification = (job: Job): job is Job<Verification> => job.kind in MOST_IN_JOB;

const sizeOf = ({ commitments }: Pick<BlobBatch, "commitments">): number => commitments.length;

function closedError(): Error {
  return new Error("The node is being closed, so no more blobs are verified.");
}
