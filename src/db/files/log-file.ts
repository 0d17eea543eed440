import { checksumFits } from "./checksum.ts";

// LevelDB, doc/log_format.md: blocks of 32 KiB with records of checksum (4 bytes), length (2), type (1) and data. No record
// crosses a block; longer ones are parted. What is left of a block that has no room for a header is zero.
const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const FULL = 1;
const FIRST = 2;
const LAST = 4;

interface Part {
  type: number;
  data: Uint8Array;
}

export interface LogContents {
  /** Those that are whole, in order. */
  records: Uint8Array[];
  /** The first place that cannot be read although something that can comes after it. */
  damagedAt: number | undefined;
  /** How many bytes at the end hold nothing whole, as a crash in the middle of a write leaves them. */
  tornBytes: number;
}

/**
 * Reads a file of LevelDB's log format, that of its logs and manifests. What a crash cuts short is at the end and nothing comes
 * after it; so wherever something whole comes after bytes that cannot be read, those were damaged later.
 */
export function readLog(bytes: Uint8Array): LogContents {
  const records: Uint8Array[] = [];
  let parted: { from: number; parts: Uint8Array[] } | undefined;
  let unreadableFrom: number | undefined;
  let damagedAt: number | undefined;
  let offset = 0;
  while (offset < bytes.length) {
    const room = BLOCK_BYTES - (offset % BLOCK_BYTES);
    if (room < HEADER_BYTES) {
      offset += room;
      continue;
    }
    const part = partAt(bytes, offset, room);
    // A record without content is one that began where nothing but its header fitted; among rubbish it proves nothing.
    if (part === undefined || (unreadableFrom !== undefined && part.data.length === 0)) {
      unreadableFrom ??= parted?.from ?? offset;
      parted = undefined;
      offset++;
      continue;
    }
    damagedAt ??= unreadableFrom;
    unreadableFrom = undefined;
    const begins = part.type === FULL || part.type === FIRST;
    if (begins === (parted !== undefined)) damagedAt ??= parted?.from ?? offset;
    if (begins) parted = { from: offset, parts: [] };
    parted?.parts.push(part.data);
    if (parted && (part.type === FULL || part.type === LAST)) {
      records.push(parted.parts.length === 1 ? part.data : Buffer.concat(parted.parts));
      parted = undefined;
    }
    offset += HEADER_BYTES + part.data.length;
  }
  const tornFrom = unreadableFrom ?? parted?.from ?? bytes.length;
  return { records, damagedAt, tornBytes: bytes.length - tornFrom };
}

/** The record, or part of one, that begins at the offset; undefined where there is none. */
function partAt(bytes: Uint8Array, offset: number, room: number): Part | undefined {
  if (offset + HEADER_BYTES > bytes.length) return undefined;
  const length = bytes[offset + 4]! | (bytes[offset + 5]! << 8);
  const type = bytes[offset + 6]!;
  const end = offset + HEADER_BYTES + length;
  if (type < FULL || type > LAST || HEADER_BYTES + length > room || end > bytes.length) return undefined;
  const checksum = new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true);
  // The checksum is of the type and the data, which lie side by side.
  if (!checksumFits(checksum, bytes.subarray(offset + HEADER_BYTES - 1, end))) return undefined;
  return { type, data: bytes.subarray(offset + HEADER_BYTES, end) };
}
