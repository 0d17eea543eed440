import { aggregateSerializedPublicKeys, PublicKey } from "@chainsafe/blst";
import { sumOfKeys } from "./jobs.ts";
import type { KeyMemory } from "./key-memory.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** Adding up so many takes 3 ms, which is less than what the way to a busy thread may cost. */
const MAIN_THREAD_KEYS = 2048;

/**
 * The sum of each of several lists of keys, by their indices in the memory. Many keys are added up in threads, each of which takes
 * an equal part of them, wherever lists begin and end.
 */
export async function sumKeys(
  lists: readonly (readonly number[])[],
  memory: KeyMemory,
  workers: WorkerPool,
): Promise<PublicKey[]> {
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  if (total <= MAIN_THREAD_KEYS) return lists.map((list) => sumOfKeys(memory, list));

  const share = Math.max(Math.ceil(total / workers.threads), MAIN_THREAD_KEYS);
  const partialSums: Uint8Array[][] = lists.map(() => []);
  await Promise.all(
    shareOut(lists, share).map(async (parts) => {
      const indices = parts.map(({ list, from, to }) => Uint32Array.from(lists[list]!.slice(from, to)));
      const sums = await workers.run("sumKeys", { chunks: memory.chunks, indices });
      parts.forEach(({ list }, i) => {
        partialSums[list]!.push(sums[i]!);
      });
    }),
  );
  return partialSums.map((sums) =>
    sums.length === 1 ? PublicKey.fromBytes(sums[0]!) : aggregateSerializedPublicKeys(sums),
  );
}

/** A part of one of the lists. */
interface Part {
  list: number;
  from: number;
  to: number;
}

/** Cuts the lists, one after the other, into shares with so many entries each. */
function shareOut(lists: readonly (readonly number[])[], share: number): Part[][] {
  const shares: Part[][] = [];
  let room = 0;
  lists.forEach(({ length }, list) => {
    for (let from = 0; from < length; ) {
      if (room === 0) {
        shares.push([]);
        room = share;
      }
      const to = Math.min(length, from + room);
      shares.at(-1)!.push({ list, from, to });
      room -= to - from;
      from = to;
    }
  });
  return shares;
}
