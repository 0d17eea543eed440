import { streamPieces, writtenArrayPieces } from "../json/encode.ts";
import type { Answer } from "../server/method-table.ts";
import type { MetaCodec } from "./codecs.ts";
import { besideData } from "./encoding.ts";
import { metaOf, type ResolvedState, type StateMeta } from "./lookup.ts";

/** A list about a state in slices, for answers that are too large to be held at once. */
export interface SlicedList<Item> {
  slices: Iterable<Item[]>;
  /** The list can have no more items. */
  maxLength: number;
  resolved: ResolvedState;
}

/** A list that can have no more items than this is written at once, which costs less than a stream. */
const MAX_ITEMS_AT_ONCE = 256;

export function wholeList<Item>({ slices, resolved }: SlicedList<Item>): { data: Item[]; meta: StateMeta } {
  return { data: Array.from(slices).flat(), meta: metaOf(resolved) };
}

export function writeList<Item>(
  { slices, maxLength, resolved }: SlicedList<Item>,
  write: (item: Item) => string,
  meta: MetaCodec<StateMeta>,
): Answer {
  const pieces = writtenArrayPieces(slices, write);
  return {
    body: maxLength <= MAX_ITEMS_AT_ONCE ? Buffer.from(Array.from(pieces).join("")) : streamPieces(pieces),
    ...besideData(meta, metaOf(resolved)),
  };
}
