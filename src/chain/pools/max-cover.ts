/** A set of candidates whose gain depends on the choices already taken. */
export interface CoverSource<Choice> {
  /**
   * Returns the best available choice, or null. Taking another choice must never increase the gain, because the lazy
   * search relies on that.
   */
  evaluate(): { gain: number; choice: Choice } | null;
  take(choice: Choice): void;
}

interface HeapEntry<Choice> {
  source: CoverSource<Choice>;
  gain: number;
  choice: Choice;
  /** Number of choices that had been taken when the source was last evaluated. */
  evaluatedAfter: number;
}

/**
 * Greedy maximum coverage: takes the choice with the largest gain up to `limit` times. A stale gain is an upper bound,
 * so only sources at the top of the heap are re-evaluated.
 */
export function maxCover<Choice>(sources: Iterable<CoverSource<Choice>>, limit: number): Choice[] {
  const heap: HeapEntry<Choice>[] = [];
  const choices: Choice[] = [];
  const evaluate = (source: CoverSource<Choice>): void => {
    const offer = source.evaluate();
    if (offer && offer.gain > 0) push(heap, { source, ...offer, evaluatedAfter: choices.length });
  };
  for (const source of sources) evaluate(source);
  while (choices.length < limit) {
    const top = pop(heap);
    if (!top) break;
    if (top.evaluatedAfter === choices.length) {
      top.source.take(top.choice);
      choices.push(top.choice);
    }
    evaluate(top.source);
  }
  return choices;
}

function push<Choice>(heap: HeapEntry<Choice>[], entry: HeapEntry<Choice>): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (heap[parent]!.gain >= entry.gain) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = entry;
}

function pop<Choice>(heap: HeapEntry<Choice>[]): HeapEntry<Choice> | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (!top || !last || heap.length === 0) return top;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.gain > heap[child]!.gain) child++;
    if (heap[child]!.gain <= last.gain) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
  return top;
}
