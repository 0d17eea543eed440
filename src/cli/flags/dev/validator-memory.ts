import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

/**
 * Memory per validator at the peak, measured with 20,000 to 80,000 validators: keys, deposits, states and caches in the
 * process as a whole, and the part in the heap of V8.
 */
const PROCESS_BYTES = 8 * 1024;
const HEAP_BYTES = 3 * 1024;
const GIB = 2 ** 30;

/** Memory that the chain can have. */
export interface MemoryLimits {
  processBytes: number;
  /** Limit of V8. */
  heapBytes: number;
}

/** Returns the memory of the machine or container, and the heap limit of this thread. */
export function memoryLimits(): MemoryLimits {
  // 0 or more than the machine has if the system sets no limit.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { processBytes: Math.min(totalmem(), constrained), heapBytes: getHeapStatistics().heap_size_limit };
}

/** Returns why that many validators do not fit into the memory; undefined if they do. */
export function memoryProblem(validators: number, { processBytes, heapBytes }: MemoryLimits): string | undefined {
  const most = Math.floor(Math.min(processBytes / PROCESS_BYTES, heapBytes / HEAP_BYTES));
  if (validators <= most) return undefined;
  const isHeap = heapBytes / HEAP_BYTES < processBytes / PROCESS_BYTES;
  const size = (bytes: number) => `${Math.round((10 * bytes) / GIB) / 10} GiB`;
  const limit = isHeap
    ? `the heap of ${size(heapBytes)}, which Node's option --max-old-space-size raises`
    : `the memory of ${size(processBytes)}`;
  return `${most} fit into ${limit}`;
}
