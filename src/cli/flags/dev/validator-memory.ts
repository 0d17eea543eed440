import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

/**
 * Peak memory per validator, both of the process and of the V8 heap, for keys, deposits, states and caches. Measured
 * with 20,000 to 80,000 validators.
 */
const PROCESS_BYTES = 8 * 1024;
const HEAP_BYTES = 3 * 1024;
const GIB = 2 ** 30;

/** Memory available to the chain. */
export interface MemoryLimits {
  processBytes: number;
  /** V8 heap limit. */
  heapBytes: number;
}

/** Returns the memory of the machine or container and the heap limit of this thread. */
export function memoryLimits(): MemoryLimits {
  // If there is no limit, the system reports 0 or more than the machine's memory.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { processBytes: Math.min(totalmem(), constrained), heapBytes: getHeapStatistics().heap_size_limit };
}

/** Returns an error message if the validators do not fit in memory, otherwise undefined. */
export function memoryProblem(validators: number, { processBytes, heapBytes }: MemoryLimits): string | undefined {
  const max = Math.floor(Math.min(processBytes / PROCESS_BYTES, heapBytes / HEAP_BYTES));
  if (validators <= max) return undefined;
  const isHeap = heapBytes / HEAP_BYTES < processBytes / PROCESS_BYTES;
  const size = (bytes: number) => `${Math.round((10 * bytes) / GIB) / 10} GiB`;
  const limit = isHeap
    ? `the heap of ${size(heapBytes)}, which Node's option --max-old-space-size raises`
    : `the memory of ${size(processBytes)}`;
  return `${max} fit into ${limit}`;
}
