import { ByteReader } from "./byte-reader.ts";

/** One versioned write to a key. The entry with the highest sequence number wins. */
export interface Entry {
  key: Uint8Array;
  /** Null for a deletion. */
  value: Uint8Array | null;
  sequence: bigint;
}

export const DELETION = 0;
const VALUE = 1;

/** Returns the first sequence number and the number of writes in a log record. */
export function sequencesOf(record: Uint8Array): { first: bigint; count: number } {
  const reader = new ByteReader(record);
  return { first: reader.uint64(), count: reader.uint32() };
}

/** Decodes the writes in a log record (LevelDB, db/write_batch.cc). */
export function* entriesOfRecord(record: Uint8Array): Generator<Entry> {
  const reader = new ByteReader(record);
  let sequence = reader.uint64();
  for (let remaining = reader.uint32(); remaining > 0; remaining--) {
    const type = reader.byte();
    if (type !== VALUE && type !== DELETION) throw new Error(`unknown write type ${type}`);
    const key = reader.string();
    yield { key, value: type === VALUE ? reader.string() : null, sequence };
    sequence++;
  }
}
