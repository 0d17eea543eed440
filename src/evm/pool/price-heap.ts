import type { PooledTransaction } from "./pooled-transaction.ts";

interface Entry {
  tip: bigint;
  transactions: readonly PooledTransaction[];
  index: number;
}

/**
 * Yields transactions by descending tip at the given fees. Transactions from the same sender are ordered by nonce, and
 * those with equal tips by arrival. A transaction that cannot be included ends its sender's sequence.
 */
export function* byTip(
  sequences: Iterable<readonly PooledTransaction[]>,
  baseFee: bigint,
  blobBaseFee: bigint,
): Generator<PooledTransaction> {
  const heap: Entry[] = [];
  const push = (transactions: readonly PooledTransaction[], index: number) => {
    const tip = transactions[index]?.tipAt(baseFee, blobBaseFee);
    if (tip === undefined) return;
    heap.push({ tip, transactions, index });
    siftUp(heap, heap.length - 1);
  };
  for (const transactions of sequences) push(transactions, 0);
  while (heap.length > 0) {
    const { transactions, index } = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      siftDown(heap);
    }
    yield transactions[index]!;
    push(transactions, index + 1);
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  if (one.tip !== other.tip) return one.tip > other.tip;
  return one.transactions[one.index]!.arrival < other.transactions[other.index]!.arrival;
}

function swap(heap: Entry[], one: number, other: number): void {
  const entry = heap[one]!;
  heap[one] = heap[other]!;
  heap[other] = entry;
}

function siftUp(heap: Entry[], start: number): void {
  for (let index = start; index > 0; ) {
    const parent = (index - 1) >> 1;
    if (!isBefore(heap[index]!, heap[parent]!)) return;
    swap(heap, index, parent);
    index = parent;
  }
}

function siftDown(heap: Entry[]): void {
  for (let index = 0; ; ) {
    const left = 2 * index + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left;
    if (!isBefore(heap[child]!, heap[index]!)) return;
    swap(heap, index, child);
    index = child;
  }
}
