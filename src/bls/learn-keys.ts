import { TimeSlice } from "../time-slice.ts";
import { BadPubkeyError, type FlatPubkeys } from "./flat-pubkeys.ts";
import { COMPRESSED_LENGTH, KEYS_PER_CHUNK } from "./key-memory.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** An eighth of a second of decompression. Those of a portion lie together in the memory. */
const KEYS_PER_PORTION = KEYS_PER_CHUNK / 4;

export interface LearnOptions {
  workers: WorkerPool;
  /** Hears of the progress. */
  onLearned?(count: number): void;
  signal?: AbortSignal;
}

/** Keys that were not in the memory yet, of those from one index to before another. */
export interface LearnedPortion {
  from: number;
  to: number;
  made: number;
}

/**
 * Learns the keys of validators that are not known yet, all of which are given, in threads. Those that are in the memory already,
 * because they were kept somewhere, are only checked. Tells which portions had keys to be made.
 */
export async function learnKeys(
  pubkeys: FlatPubkeys,
  validators: readonly { pubkey: Uint8Array }[],
  { workers, onLearned, signal }: LearnOptions,
): Promise<LearnedPortion[]> {
  const { memory, size } = pubkeys;
  memory.reserve(validators.length);
  const learned: LearnedPortion[] = [];
  const slice = new TimeSlice();
  const portions = portionsOf(size, validators.length);
  let count = 0;

  async function work(): Promise<void> {
    for (const { from, to } of portions) {
      signal?.throwIfAborted();
      await slice.breathe();
      const compressed = new Uint8Array((to - from) * COMPRESSED_LENGTH);
      for (let i = from; i < to; i++) compressed.set(validators[i]!.pubkey, (i - from) * COMPRESSED_LENGTH);
      const [keys] = memory.pieces(from, to);
      const { made, bad } = await workers.run("completeKeys", { compressed, keys: keys! });
      if (bad !== undefined) throw new BadPubkeyError(from + bad, validators[from + bad]!.pubkey);
      if (made > 0) learned.push({ from, to, made });
      count += to - from;
      onLearned?.(count);
    }
  }

  // A thread that had the next portion waiting would never come to give back the memory of the key objects it made.
  await Promise.all(Array.from({ length: workers.threads }, work));
  await pubkeys.takeUp(validators.length);
  return learned;
}

function* portionsOf(from: number, to: number): Generator<{ from: number; to: number }> {
  for (let start = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / KEYS_PER_PORTION) + 1) * KEYS_PER_PORTION);
    yield { from: start, to: end };
    start = end;
  }
}
