import { OperationalError } from "../../errors/operational-error.ts";
import type { Logger } from "../../log/logger.ts";
import { Thread, type ThreadPort } from "../../threads/thread.ts";
import { Moved } from "../../threads/transfer.ts";
import { joinBatches } from "./batches.ts";
import type { KzgJobs, LoadReport } from "./jobs.ts";
import { packBuffers } from "./pack-buffers.ts";

/** Blobs or cells per job: about 50 ms of native code, so urgent jobs do not wait long. Larger batches gain little. */
export const MAX_BATCH = { verifyBlobs: 16, verifyCells: 512 } as const;

/** A job is retried once if its thread dies. */
const MAX_ATTEMPTS = 2;

type Verification = keyof typeof MAX_BATCH;

interface Job<Kind extends keyof KzgJobs = keyof KzgJobs> {
  kind: Kind;
  input: KzgJobs[Kind]["input"];
  attempts: number;
  resolve(result: KzgJobs[Kind]["result"]): void;
  reject(error: Error): void;
}

interface KzgWorkerPoolParts {
  /** Returns the maximum number of threads. Threads are started on demand. */
  limit(): number;
  startWorker(): ThreadPort;
  onLoaded(report: LoadReport): void;
  onUnavailable(error: Error): void;
  logger: Logger;
}

/** The chosen backend does not load on this platform, or no backend does. */
export class KzgUnavailableError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "KzgUnavailableError";
  }
}

/**
 * Worker threads that run one job at a time. Waiting verifications are merged into one batch. A dead thread is replaced
 * and its job retried. If no backend loads, every job fails with the reason and no thread is started.
 */
export class KzgWorkerPool {
  readonly #parts: KzgWorkerPoolParts;
  readonly #members = new Set<Thread>();
  /** Jobs for block import and duties. */
  readonly #urgent: Job[] = [];
  readonly #background: Job[] = [];
  /** Reason why no more jobs can run. */
  #failure: Error | undefined;

  constructor(parts: KzgWorkerPoolParts) {
    this.#parts = parts;
  }

  run<Kind extends keyof KzgJobs>(
    kind: Kind,
    input: KzgJobs[Kind]["input"],
    { isUrgent = true } = {},
  ): Promise<KzgJobs[Kind]["result"]> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const job: Job<Kind> = { kind, input, attempts: 0, resolve, reject };
      (isUrgent ? this.#urgent : this.#background).push(job as Job);
      this.advance();
    });
  }

  /** Starts a thread before the first job arrives. */
  prepare(): void {
    if (!this.#failure && this.#members.size === 0) this.#start();
  }

  /** Gives waiting jobs to idle threads, and starts more threads, up to the limit. */
  advance(): void {
    for (let waiting = this.#waiting(); waiting; waiting = this.#waiting()) {
      const member = this.#idleMember();
      if (member === undefined) return;
      void this.#send(member, takeFrom(waiting));
    }
  }

  async close(): Promise<void> {
    await this.#fail(new Error("The node is shutting down; no more KZG jobs are run."));
  }

  async #fail(error: Error): Promise<void> {
    this.#failure ??= error;
    const members = [...this.#members];
    this.#members.clear();
    for (const job of [...this.#urgent.splice(0), ...this.#background.splice(0)]) job.reject(error);
    await Promise.all(members.map((member) => member.end(error)));
  }

  #waiting(): Job[] | undefined {
    return [this.#urgent, this.#background].find(({ length }) => length > 0);
  }

  #idleMember(): Thread | undefined {
    for (const member of this.#members) if (member.channel.pending === 0) return member;
    return this.#members.size < this.#parts.limit() ? this.#start() : undefined;
  }

  /** Runs a job. If the thread dies, the job is retried ahead of all other jobs. */
  async #send({ channel }: Thread, job: Job): Promise<void> {
    job.attempts++;
    const { record, buffer } = packBuffers(job.input);
    try {
      job.resolve((await channel.call(job.kind, [new Moved(record, buffer)])) as KzgJobs[keyof KzgJobs]["result"]);
    } catch (error) {
      const isRetried = channel.isClosed && !this.#failure && job.attempts < MAX_ATTEMPTS;
      if (isRetried) this.#urgent.unshift(job);
      else job.reject(error as Error);
    }
    this.advance();
  }

  #start(): Thread {
    const member = new Thread(this.#parts.startWorker(), {
      handle: (event, [detail]) => {
        if (event === "loaded") this.#parts.onLoaded(detail as LoadReport);
        else this.#parts.onUnavailable(new KzgUnavailableError(detail as string));
      },
      onDeath: (thread, error) => this.#onDeath(thread, error),
    });
    this.#members.add(member);
    return member;
  }

  /** Rejects all current and future jobs with the error. */
  giveUp(error: Error): void {
    void this.#fail(error);
  }

  #onDeath(member: Thread, error: unknown): void {
    this.#members.delete(member);
    this.#parts.logger.warn("KZG worker thread died, starting another", { error });
    // Ending the member retries its job.
    void member.end(new Error("The KZG worker thread died before it finished the job."));
  }
}

/** Takes the first job. A verification is merged with waiting jobs of its kind, up to the batch limit. */
function takeFrom(waiting: Job[]): Job {
  const first = waiting.shift()!;
  if (!isVerification(first)) return first;
  const { kind } = first;
  const merged = [first];
  let size = sizeOf(first);
  for (let index = 0; index < waiting.length; ) {
    const other = waiting[index]!;
    if (isVerification(other) && other.kind === kind && size + sizeOf(other) <= MAX_BATCH[kind]) {
      merged.push(other);
      size += sizeOf(other);
      waiting.splice(index, 1);
    } else {
      index++;
    }
  }
  return merged.length === 1 ? first : mergedJob(merged);
}

function mergedJob(jobs: readonly Job<Verification>[]): Job {
  return {
    kind: jobs[0]!.kind,
    input: joinBatches(jobs.map(({ input }) => input)),
    attempts: Math.max(...jobs.map(({ attempts }) => attempts)),
    resolve(result) {
      const { verdicts } = result as KzgJobs[Verification]["result"];
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

const isVerification = (job: Job): job is Job<Verification> => job.kind in MAX_BATCH;

const sizeOf = ({ input }: Job<Verification>): number => input.commitments.length;
