import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import type { ISignatureSet } from "@lodestar/state-transition";
import type { Logger } from "../log/logger.ts";
import { countKeys, findSigners, type SharedPubkeys } from "./keyed-sets.ts";
import { addUpKeys, packSets, type SignatureToKey } from "./packed-sets.ts";
import { verifyBatch, verifyEachInBatch } from "./verify-batch.ts";
import { closedError, WorkerPool } from "./worker-pool.ts";

/** Input never makes these methods reject: what is malformed is simply not a good signature. Only closing does, and a registered public key that is none. */
export interface BlsVerifier {
  /** Whether every set is good; a list of none is. */
  verify(sets: ISignatureSet[]): Promise<boolean>;
  /** The verdict on each set, in the order given. */
  verifyEach(sets: ISignatureSet[]): Promise<boolean[]>;
  /** Stops the threads. Verifications still under way, and later ones, reject. */
  close(): Promise<void>;
}

export interface BlsVerifierOptions {
  pubkeyCache: SharedPubkeys;
  logger?: Logger;
  /** How many worker threads at most; by default `defaultThreads`. */
  threads?: number;
  /** Replaces the threads that are started. */
  startWorker?: () => Worker;
}

/**
 * Up to here a batch blocks the event loop for about 10 ms, which is less than what the way to a busy thread may cost.
 * Measured: a set with a message of its own 0.6 ms, a set that shares its message 0.2 ms, 300 keys to add 0.5 ms.
 */
const MAIN_THREAD_COST = 16;
const SHARED_MESSAGE_COST = 0.35;
const KEY_COST = 1 / 360;
/** Smaller parts lose in repeated pairings and messages what they gain by running side by side. */
const MIN_COST_PER_JOB = 16;
/** Bounds the halving that one bad signature causes, and lets threads take turns between callers. */
const MAX_SETS_PER_JOB = 256;

export function createBlsVerifier({ pubkeyCache, logger, threads, startWorker }: BlsVerifierOptions): BlsVerifier {
  const workers = new WorkerPool({ threads: Math.max(1, threads ?? defaultThreads()), logger, startWorker });

  function signed(sets: ISignatureSet[]): (SignatureToKey | null)[] {
    if (workers.closed) throw closedError();
    return findSigners(sets, pubkeyCache);
  }

  async function inThreads(
    question: "all" | "each",
    sets: readonly SignatureToKey[],
    cost: number,
  ): Promise<boolean[]> {
    const verdicts = splitIntoJobs(sets, cost, workers.threads).map((job) =>
      workers.run("verify", { question, packed: packSets(job, pubkeyCache.memory) }),
    );
    return (await Promise.all(verdicts)).flat();
  }

  // Whatever goes to threads is on its way before these return, so that the caller can go on with other work at once.
  return {
    async verify(sets) {
      if (sets.length === 0) return true;
      const signatures = signed(sets);
      if (!isComplete(signatures)) return false;
      const cost = costOf(sets);
      if (cost <= MAIN_THREAD_COST) return verifyBatch(addUpKeys(signatures, pubkeyCache.memory));
      return (await inThreads("all", signatures, cost)).every(Boolean);
    },

    async verifyEach(sets) {
      const signatures = signed(sets);
      const present = signatures.filter((signature) => signature !== null);
      const cost = costOf(sets);
      const verdicts =
        cost <= MAIN_THREAD_COST
          ? verifyEachInBatch(addUpKeys(present, pubkeyCache.memory))
          : await inThreads("each", present, cost);
      let next = 0;
      return signatures.map((signature) => signature !== null && verdicts[next++] === true);
    },

    close: () => workers.close(),
  };
}

/**
 * All processors but the one of the main thread. Of two processors both: while the node syncs, nearly all work is signatures,
 * and the main thread waits for them.
 */
function defaultThreads(): number {
  const processors = availableParallelism();
  return Math.max(processors - 1, Math.min(processors, 2));
}

function isComplete(signatures: (SignatureToKey | null)[]): signatures is SignatureToKey[] {
  return !signatures.includes(null);
}

function costOf(sets: readonly ISignatureSet[]): number {
  const messages = new Set<string>();
  let cost = 0;
  for (const set of sets) {
    const before = messages.size;
    messages.add(Buffer.from(set.signingRoot).toString("latin1"));
    cost += messages.size > before ? 1 : SHARED_MESSAGE_COST;
    cost += countKeys(set) * KEY_COST;
  }
  return cost;
}

function splitIntoJobs<T>(items: readonly T[], cost: number, threads: number): T[][] {
  const jobs = Math.max(
    Math.ceil(items.length / MAX_SETS_PER_JOB),
    Math.min(threads, items.length, Math.floor(cost / MIN_COST_PER_JOB)),
    1,
  );
  const boundary = (index: number) => Math.floor((index * items.length) / jobs);
  return Array.from({ length: jobs }, (_, index) => items.slice(boundary(index), boundary(index + 1)));
}
