import { COMPRESSED_LENGTH, isCompressed, KEY_LENGTH, KEYS_PER_CHUNK, type KeyMemory } from "./key-memory.ts";
import { BadPubkeyError } from "./read-key.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** A range takes about 1/8 s to decompress. Its keys are contiguous in memory. */
const KEYS_PER_RANGE = KEYS_PER_CHUNK / 4;

export interface DecompressionOptions {
  workers: WorkerPool;
  /** Fills a zeroed buffer with cached keys, starting at index `from`. The cached keys need not be correct. */
  loadCached(keys: Uint8Array, from: number): Promise<void>;
  /** Awaited before the thread gets its next range. */
  onDecompressed(range: DecompressedRange): Promise<void>;
  /** Returns false to stop after the current range. */
  isWanted(): boolean;
}

/** Range of key indices; `to` is exclusive. */
interface KeyRange {
  from: number;
  to: number;
}

export interface DecompressedRange extends KeyRange {
  /** Number of keys that had to be decompressed. */
  decompressed: number;
  /** Number of incorrect cached keys. */
  unfit: number;
}

/**
 * Uses worker threads to decompress all keys that are still compressed, taking correct keys from a cache where
 * possible. Only the calling thread writes to the key memory, so keys added concurrently are not lost.
 */
export async function decompressKeys(
  memory: KeyMemory,
  size: number,
  { workers, loadCached, onDecompressed, isWanted }: DecompressionOptions,
): Promise<void> {
  const ranges = compressedRanges(memory, size);

  async function work(): Promise<void> {
    const room = new Uint8Array(new SharedArrayBuffer(KEYS_PER_RANGE * KEY_LENGTH));
    for (const { from, to } of ranges) {
      if (!isWanted()) return;
      const keys = room.subarray(0, (to - from) * KEY_LENGTH).fill(0);
      await loadCached(keys, from);
      const compressed = memory.compressed(from, to);
      const { decompressed, unfit, bad } = await workers.run("decompressKeys", { compressed, keys });
      if (bad !== undefined) throw new BadPubkeyError(from + bad, elementAt(compressed, bad, COMPRESSED_LENGTH));
      for (let index = from; index < to; index++)
        memory.setDecompressed(index, elementAt(keys, index - from, KEY_LENGTH));
      await onDecompressed({ from, to, decompressed, unfit });
    }
  }

  // One range per thread at a time: with another range queued, a thread would never yield to free its key objects.
  await Promise.all(Array.from({ length: workers.threads }, work));
}

/** Yields ranges with at least one compressed key, checked lazily. */
function* compressedRanges(memory: KeyMemory, size: number): Generator<KeyRange> {
  for (let from = 0; from < size; from += KEYS_PER_RANGE) {
    const to = Math.min(size, from + KEYS_PER_RANGE);
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
