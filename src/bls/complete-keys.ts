import { COMPRESSED_LENGTH, isCompressed, KEY_LENGTH, KEYS_PER_CHUNK, type KeyMemory } from "./key-memory.ts";
import { BadPubkeyError } from "./read-key.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** An eighth of a second of decompression. Those of a portion lie together in the memory. */
const KEYS_PER_PORTION = KEYS_PER_CHUNK / 4;

export interface CompletionOptions {
  workers: WorkerPool;
  /** Fills a place for keys, which is all zero, with what was kept of those from an index on. It need not be right. */
  recall(keys: Uint8Array, from: number): Promise<void>;
  /** Is waited for before the thread that did it has the next one. */
  onCompleted(portion: CompletedPortion): Promise<void>;
  /** Whether to go on with another portion. */
  isWanted(): boolean;
}

/** The keys from one index to before another. */
interface Portion {
  from: number;
  to: number;
}

export interface CompletedPortion extends Portion {
  /** How many of them had to be decompressed. */
  made: number;
  /** In place of how many of these something else was kept. */
  unfit: number;
}

/**
 * Decompresses the keys in the memory that are still compressed, in threads, or takes them from where they were kept when they are
 * right there. Only this thread writes into the memory, so that nothing is lost that it has put there meanwhile.
 */
export async function completeKeys(
  memory: KeyMemory,
  size: number,
  { workers, recall, onCompleted, isWanted }: CompletionOptions,
): Promise<void> {
  const portions = compressedPortions(memory, size);

  async function work(): Promise<void> {
    const room = new Uint8Array(new SharedArrayBuffer(KEYS_PER_PORTION * KEY_LENGTH));
    for (const { from, to } of portions) {
      if (!isWanted()) return;
      const keys = room.subarray(0, (to - from) * KEY_LENGTH).fill(0);
      await recall(keys, from);
      const compressed = memory.compressed(from, to);
      const { made, unfit, bad } = await workers.run("completeKeys", { compressed, keys });
      if (bad !== undefined) throw new BadPubkeyError(from + bad, elementAt(compressed, bad, COMPRESSED_LENGTH));
      for (let index = from; index < to; index++) memory.complete(index, elementAt(keys, index - from, KEY_LENGTH));
      await onCompleted({ from, to, made, unfit });
    }
  }

  // A thread that had the next portion waiting would never come to give back the memory of the key objects it made.
  await Promise.all(Array.from({ length: workers.threads }, work));
}

/** Those with at least one key that is compressed when their turn comes. */
function* compressedPortions(memory: KeyMemory, size: number): Generator<Portion> {
  for (let from = 0; from < size; from += KEYS_PER_PORTION) {
    const to = Math.min(size, from + KEYS_PER_PORTION);
    for (let index = from; index < to; index++) {
      if (!isCompressed(memory.at(index))) continue;
      yield { from, to };
      break;
    }
  }
}

function elementAt(bytes: Uint8Array, index: number, length: number): Uint8Array {
  return bytes.subarray(index * length, (index + 1) * length);
}
