import { availableParallelism } from "node:os";
import type { ISignatureSet } from "@lodestar/state-transition";
import type { Logger } from "../log/logger.ts";
import type { ThreadPort } from "../threads/thread.ts";
import { aggregateKeys, packSets, type SignerSet } from "./packed-sets.ts";
import { countKeys, findSigners, type SharedPubkeys } from "./signers.ts";
import { verifyBatch, verifyEachInBatch } from "./verify-batch.ts";
import { closedError, WorkerPool } from "./worker-pool.ts";

/**
 * Verifies signature sets. Malformed input counts as an invalid signature, not as an error. Methods reject only after
 * `close`, or if a registered public key is invalid.
 */
export interface BlsVerifier {
  /** Resolves to true if all sets are valid, including for an empty list. */
  verify(sets: ISignatureSet[]): Promise<boolean>;
  /** Returns the verdict on each set, in order. */
  verifyEach(sets: ISignatureSet[]): Promise<boolean[]>;
  /** Stops the threads. Pending and later calls reject. */
  close(): Promise<void>;
}

export interface BlsVerifierOptions {
  pubkeyCache: SharedPubkeys;
  logger?: Logger;
  /** Maximum number of worker threads. */
  threads?: number;
  /** Replaces the worker threads, for tests. */
  startWorker?: () => ThreadPort;
}

/**
 * Batches up to this cost run on the main thread: about 10 ms, less than the latency of a busy worker. Measured: 0.6 ms
 * for a set with its own message, 0.2 ms with a shared message, 0.5 ms per 300 aggregated keys.
 */
const MAIN_THREAD_COST = 16;
const SHARED_MESSAGE_COST = 0.35;
const KEY_COST = 1 / 360;
/** Smaller jobs lose more to repeated pairings and messages than they gain from parallelism. */
const MIN_COST_PER_JOB = 16;
/** Limits the bisection after an invalid signature, and lets callers take turns. */
const MAX_SETS_PER_JOB = 256;

export function createBlsVerifier({ pubkeyCache, logger, threads, startWorker }: BlsVerifierOptions): BlsVerifier {
  const workers = new WorkerPool({ threads: Math.max(1, threads ?? defaultThreads()), logger, startWorker });

  function signed(sets: ISignatureSet[]): (SignerSet | null)[] {
    if (workers.closed) throw closedError();
    return findSigners(sets, pubkeyCache);
  }

  async function inThreads(question: "all" | "each", sets: readonly SignerSet[], cost: number): Promise<boolean[]> {
    const verdicts = splitIntoJobs(sets, cost, workers.threads).map((job) =>
      workers.run("verify", { question, packed: packSets(job, pubkeyCache.memory) }),
    );
    return (await Promise.all(verdicts)).flat();
  }

  // These methods post their jobs before returning, so callers can continue with other work.
  return {
    async verify(sets) {
      if (sets.length === 0) return true;
      const signatures = signed(sets);
      if (!isComplete(signatures)) return false;
      const cost = costOf(sets);
      if (cost <= MAIN_THREAD_COST) return verifyBatch(aggregateKeys(signatures, pubkeyCache.memory));
      return (await inThreads("all", signatures, cost)).every(Boolean);
    },

    async verifyEach(sets) {
      const signatures = signed(sets);
      const present = signatures.filter((signature) => signature !== null);
      const cost = costOf(sets);
      const verdicts =
        cost <= MAIN_THREAD_COST
          ? verifyEachInBatch(aggregateKeys(present, pubkeyCache.memory))
          : await inThreads("each", present, cost);
      let next = 0;
      return signatures.map((signature) => signature !== null && verdicts[next++] === true);
    },

    close: () => workers.close(),
  };
}

/**
 * All cores but one. With only two cores, both are used: during sync nearly all work is signature verification, and the
 * main thread waits for it.
 */
function defaultThreads(): number {
  const processors = availableParallelism();
  return Math.max(processors - 1, Math.min(processors, 2));
}

function isComplete(signatures: (SignerSet | null)[]): signatures is SignerSet[] {
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
