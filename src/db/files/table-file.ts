import { uncompressSync } from "snappy";
import { ByteReader } from "./byte-reader.ts";
import { matchesChecksum } from "./checksum.ts";
import { DELETION, type Entry } from "./write-record.ts";

// LevelDB, doc/table_format.md: blocks, each followed by its compression type (1 byte) and a checksum (4). The footer
// holds the handles of the index blocks.
const FOOTER_BYTES = 48;
const TRAILER_BYTES = 5;
const MAGIC = 0xdb4775248b80fb57n;
const SNAPPY = 1;
const SEQUENCE_AND_TYPE_BYTES = 8;

/** Offset and size of a block in the file. */
interface BlockHandle {
  offset: number;
  size: number;
}

/** Returns the handles of all blocks. Throws an error stating the reason if the footer or an index is damaged. */
function readHandles(file: Uint8Array): { data: BlockHandle[]; others: BlockHandle[] } {
  if (file.length < FOOTER_BYTES) throw new Error("the file is too short");
  const footer = file.subarray(file.length - FOOTER_BYTES);
  if (new ByteReader(footer, FOOTER_BYTES - 8).uint64() !== MAGIC) throw new Error("the footer has no table magic");
  const reader = new ByteReader(footer);
  const [metaIndex, index] = [readHandle(reader), readHandle(reader)];
  const listedIn = (handle: BlockHandle) =>
    Array.from(rowsOf(readBlock(file, handle)), ({ value }) => readHandle(new ByteReader(value)));
  return { data: listedIn(index), others: [...listedIn(metaIndex), metaIndex, index] };
}

/** Verifies every block of a table. Throws an error whose message completes "the file … cannot be read: …". */
export function checkTable(file: Uint8Array): void {
  const { data, others } = readHandles(file);
  let end = 0;
  for (const handle of [...data, ...others]) {
    if (handle.offset !== end) throw new Error(`there is no block between bytes ${end} and ${handle.offset}`);
    readBlock(file, handle);
    end += handle.size + TRAILER_BYTES;
  }
  if (end !== file.length - FOOTER_BYTES) throw new Error(`there is no block from byte ${end} on`);
}

/** Yields all readable entries of a table and reports unreadable blocks to `onDamage`. */
export function* entriesOfTable(file: Uint8Array, onDamage: (reason: string) => void): Generator<Entry> {
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      onDamage(reasonOf(error));
      return undefined;
    }
  };
  for (const handle of attempt(() => readHandles(file).data) ?? []) {
    yield* attempt(() => Array.from(rowsOf(readBlock(file, handle)), entryOf)) ?? [];
  }
}

function readHandle(reader: ByteReader): BlockHandle {
  return { offset: reader.varint(), size: reader.varint() };
}

function readBlock(file: Uint8Array, { offset, size }: BlockHandle): Uint8Array {
  const wrong = (reason: string) => new Error(`the block at byte ${offset} ${reason}`);
  const end = offset + size;
  if (end + TRAILER_BYTES > file.length) throw wrong("exceeds the file");
  const checksum = new ByteReader(file, end + 1).uint32();
  if (!matchesChecksum(checksum, file.subarray(offset, end + 1))) throw wrong("does not match its checksum");
  const content = file.subarray(offset, end);
  try {
    return file[end] === SNAPPY ? (uncompressSync(content, { asBuffer: true }) as Buffer) : content;
  } catch (error) {
    throw wrong(`cannot be decompressed (${reasonOf(error)})`);
  }
}

/** Decodes the rows of a block. Keys are prefix-compressed against the previous key. */
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

/** Table keys end with a 64-bit tag: the sequence number (7 bytes) and the write type (1 byte). */
function entryOf({ key, value }: { key: Uint8Array; value: Uint8Array }): Entry {
  const length = key.length - SEQUENCE_AND_TYPE_BYTES;
  const tag = new ByteReader(key, length).uint64();
  const isDeletion = Number(tag & 0xffn) === DELETION;
  return { key: key.subarray(0, length), value: isDeletion ? null : value, sequence: tag >> 8n };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
