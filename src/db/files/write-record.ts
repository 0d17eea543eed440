import { ByteReader } from "./byte-reader.ts";
import { DELETION, type Entry, VALUE } from "./entry.ts";

/** Where a record of a log stands among all writes: its first, and how many it has. */
export function sequencesOf(record: Uint8Array): { first: bigint; count: number } {
  const reader = new ByteReader(record);
  return { first: reader.uint64(), count: reader.uint32() };
}

/** The writes of a record of a log (LevelDB, db/write_batch.cc). */
export function* entriesOfRecord(record: Uint8Array): Generator<Entry> {
  const reader = new ByteReader(record);
  let sequence = reader.uint64();
  for (let left = reader.uint32(); left > 0; left--) {
    const type = reader.byte();
    if (type !== VALUE && type !== DELETION) throw new Error(`A write has the type ${type}, which is none.`);
    const key = reader.string();
    yield { key, value: type === VALUE ? reader.string() : null, sequence };
    sequence++;
  }
}
