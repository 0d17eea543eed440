import type { BlobBatch, CellBatch } from "./kzg.ts";

type Batch = BlobBatch | CellBatch;

export function isRagged(batch: Batch): boolean {
  return new Set(listsOf(batch).map(([, { length }]) => length)).size > 1;
}

/** Splits a batch into parts of at most `max` elements. */
export function splitBatch<B extends Batch>(batch: B, max: number): B[] {
  const parts: B[] = [];
  for (let from = 0; from < batch.commitments.length; from += max) {
    const lists = listsOf(batch).map(([key, list]) => [key, list.slice(from, from + max)]);
    parts.push(Object.fromEntries(lists) as B);
  }
  return parts;
}

/** Joins batches of the same kind into one. Requires at least one batch. */
export function joinBatches<B extends Batch>(batches: readonly B[]): B {
  const lists = batches.map((batch) => new Map(listsOf(batch)));
  const joined = [...lists[0]!.keys()].map((key) => [key, lists.flatMap((each) => each.get(key)!)]);
  return Object.fromEntries(joined) as B;
}

const listsOf = (batch: Batch): [string, readonly unknown[]][] => Object.entries(batch);
