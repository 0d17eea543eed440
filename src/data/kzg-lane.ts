import type { Worker } from "node:worker_threads";
import type { Logger } from "../log/logger.ts";
import { joinBatches } from "./batches.ts";
import type { KzgAnswer, KzgJobs, KzgRequest } from "./kzg-jobs.ts";
import { inOneBuffer } from "./one-buffer.ts";

/**
 * Of blobs or cells in one job, which takes some 50 ms, so that nobody waits long behind somebody else's. Larger batches would hardly cost
 * less for each.
 */
export const MOST_IN_JOB = { verifyBlobs: 16, verifyCells: 512 } as const;

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

interface Member {
  worker: Worker;
  /** What it is about to do. */
  job: Job | undefined;
}

interface KzgLaneParts {
  /** Of threads, which are started when they are needed. */
  limit: number;
  startWorker(): Worker;
  logger: Logger;
}

/**
 * Threads that do one job after the other. Whatever waits to be verified goes into one batch. A thread that dies is replaced, and
 * its job is done again.
 */
export class KzgLane {
  readonly #parts: KzgLaneParts;
  readonly #members = new Set<Member>();
  /** In two ranks: what blocks and duties wait for, and the rest. */
  readonly #first: Job[] = [];
  readonly #later: Job[] = [];
  #isClosed = false;

  constructor(parts: KzgLaneParts) {
    this.#parts = parts;
  }

  run<Kind extends keyof KzgJobs>(
    kind: Kind,
    input: KzgJobs[Kind]["input"],
    { isUrgent = true } = {},
  ): Promise<KzgJobs[Kind]["answer"]> {
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const job: Job<Kind> = { kind, input, attempts: 0, resolve, reject };
      (isUrgent ? this.#first : this.#later).push(job as Job);
      this.#advance();
    });
  }

  /** Starts a thread before it is needed. */
  prepare(): void {
    if (!this.#isClosed && this.#members.size === 0) this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const members = [...this.#members];
    this.#members.clear();
    const running = members.flatMap(({ job }) => job ?? []);
    for (const job of [...running, ...this.#first.splice(0), ...this.#later.splice(0)]) job.reject(closedError());
    await Promise.all(members.map(({ worker }) => worker.terminate()));
  }

  #advance(): void {
    for (let waiting = this.#waiting(); waiting; waiting = this.#waiting()) {
      const member = this.#idleMember();
      if (member === undefined) return;
      this.#send(member, takeFrom(waiting));
    }
  }

  #waiting(): Job[] | undefined {
    return [this.#first, this.#later].find(({ length }) => length > 0);
  }

  #idleMember(): Member | undefined {
    for (const member of this.#members) if (member.job === undefined) return member;
    return this.#members.size < this.#parts.limit ? this.#start() : undefined;
  }

  #send(member: Member, job: Job): void {
    job.attempts++;
    member.job = job;
    const { record, buffer } = inOneBuffer(job.input);
    // A thread at work keeps the process alive; an idle one must not.
    member.worker.ref();
    member.worker.postMessage({ kind: job.kind, input: record } satisfies KzgRequest, [buffer]);
  }

  #start(): Member {
    const worker = this.#parts.startWorker();
    const member: Member = { worker, job: undefined };
    this.#members.add(member);
    worker.unref();
    worker.on("message", (message: KzgAnswer) => this.#onAnswer(member, message));
    worker.on("error", (error) => this.#onDeath(member, error));
    worker.on("exit", () => this.#onDeath(member));
    return member;
  }

  #onAnswer(member: Member, message: KzgAnswer): void {
    const { job, worker } = member;
    member.job = undefined;
    worker.unref();
    this.#advance();
    if ("failure" in message) job?.reject(new Error(message.failure));
    else job?.resolve(message.answer);
  }

  #onDeath(member: Member, error?: unknown): void {
    if (!this.#members.delete(member)) return;
    const { job } = member;
    this.#parts.logger.warn("A thread that computes commitments died; another takes its place.", { error });
    if (job && job.attempts < MOST_ATTEMPTS) this.#first.unshift(job);
    else job?.reject(new Error("The thread that computes commitments died before it was done."));
    this.#advance();
  }
}

/** The first that waits; where it is a verification, together with the others that wait, as far as they make no too large batch. */
function takeFrom(waiting: Job[]): Job {
  const first = waiting.shift()!;
  if (!isVerification(first)) return first;
  const { kind } = first;
  const together = [first];
  let size = sizeOf(first);
  for (let index = 0; index < waiting.length; ) {
    const other = waiting[index]!;
    if (isVerification(other) && other.kind === kind && size + sizeOf(other) <= MOST_IN_JOB[kind]) {
      together.push(other);
      size += sizeOf(other);
      waiting.splice(index, 1);
    } else {
      index++;
    }
  }
  return together.length === 1 ? first : joined(together);
}

function joined(jobs: readonly Job<Verification>[]): Job {
  return {
    kind: jobs[0]!.kind,
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

const sizeOf = ({ input }: Job<Verification>): number => input.commitments.length;

function closedError(): Error {
  return new Error("The node is being closed, so nothing more is computed of blobs.");
}
