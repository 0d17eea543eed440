import { uncompressSync } from "snappy";
import { ByteReader } from "./byte-reader.ts";
import { checksumFits } from "./checksum.ts";
import { DELETION, type Entry } from "./entry.ts";

// LevelDB, doc/table_format.md: blocks, each followed by how it is compressed (1 byte) and a checksum (4); at the end where
// the blocks are that list the others.
const FOOTER_BYTES = 48;
const TRAILER_BYTES = 5;
const MAGIC = 0xdb4775248b80fb57n;
const SNAPPY = 1;
const SEQUENCE_AND_TYPE_BYTES = 8;

/** Where a block is in the file. */
interface Place {
  offset: number;
  size: number;
}

/** The places of a table's blocks; throws an error that says why they cannot be found. */
function readPlaces(file: Uint8Array): { data: Place[]; others: Place[] } {
  if (file.length < FOOTER_BYTES) throw new Error("it is too short");
  const footer = file.subarray(file.length - FOOTER_BYTES);
  if (new ByteReader(footer, FOOTER_BYTES - 8).uint64() !== MAGIC) throw new Error("its end is not that of a table");
  const reader = new ByteReader(footer);
  const [metaIndex, index] = [readPlace(reader), readPlace(reader)];
  const listedIn = (place: Place) =>
    Array.from(rowsOf(readBlock(file, place)), ({ value }) => readPlace(new ByteReader(value)));
  return { data: listedIn(index), others: [...listedIn(metaIndex), metaIndex, index] };
}

/** Checks every block of a table; throws an error that says what is wrong, as the end of a sentence. */
export function checkTable(file: Uint8Array): void {
  const { data, others } = readPlaces(file);
  let end = 0;
  for (const place of [...data, ...others]) {
    if (place.offset !== end) throw new Error(`between byte ${end} and byte ${place.offset} there is no block`);
    readBlock(file, place);
    end += place.size + TRAILER_BYTES;
  }
  if (end !== file.length - FOOTER_BYTES) throw new Error(`from byte ${end} on there is no block`);
}

/** What can be read of a table, however damaged the rest is. */
export function* entriesOfTable(file: Uint8Array, onDamage: (reason: string) => void): Generator<Entry> {
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      onDamage(reasonOf(error));
      return undefined;
    }
  };
  for (const place of attempt(() => readPlaces(file).data) ?? []) {
    yield* attempt(() => Array.from(rowsOf(readBlock(file, place)), entryOf)) ?? [];
  }
}

function readPlace(reader: ByteReader): Place {
  return { offset: reader.varint(), size: reader.varint() };
}

function readBlock(file: Uint8Array, { offset, size }: Place): Uint8Array {
  const wrong = (reason: string) => new Error(`the block at byte ${offset} ${reason}`);
  const end = offset + size;
  if (end + TRAILER_BYTES > file.length) throw wrong("goes beyond its end");
  const checksum = new ByteReader(file, end + 1).uint32();
  if (!checksumFits(checksum, file.subarray(offset, end + 1))) throw wrong("has another checksum");
  const content = file.subarray(offset, end);
  try {
    return file[end] === SNAPPY ? (uncompressSync(content, { asBuffer: true }) as Buffer) : content;
  } catch (error) {
    throw wrong(`cannot be unpacked (${reasonOf(error)})`);
  }
}

/** The rows of a block: each key is written without what it has in common with the one before. */
function* rowsOf(block: Uint8Array): Generator<{ key: Uint8Array; value: Uint8Array }> {
  const restarts = new ByteReader(block, block.length - 4).uint32();
  const reader = new ByteReader(block.subarray(0, block.length - 4 * (restarts + 1)));
  let key: Uint8Array = new Uint8Array();
  while (!reader.isAtEnd) {
    const shared = reader.varint();
    const rest = reader.varint();
    const valueBytes = reader.varint();
    key = Buffer.concat([key.subarray(0, shared), reader.take(rest)]);
    yield { key, value: reader.take(valueBytes) };
  }
}

/** A table's keys end with the sequence of the write (7 bytes) and its type (1), as one number. */
function entryOf({ key, value }: { key: Uint8Array; value: Uint8Array }): Entry {
  const length = key.length - SEQUENCE_AND_TYPE_BYTES;
  const tag = new ByteReader(key, length).uint64();
  const isDeletion = Number(tag & 0xffn) === DELETION;
  return { key: key.subarray(0, length), value: isDeletion ? null : value, sequence: tag >> 8n };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
