import { matchesChecksum } from "./checksum.ts";

// LevelDB, doc/log_format.md: 32 KiB blocks of records: checksum (4 bytes), length (2), type (1), data. Records do not
// span blocks; longer records are split into fragments. Space too small for a header is zero-filled.
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
  /** Complete records, in order. */
  records: Uint8Array[];
  /** Offset of the first unreadable byte that is followed by a readable record. */
  damagedAt: number | undefined;
  /** Number of trailing bytes that hold no complete record, as after a crash during a write. */
  tornBytes: number;
}

/**
 * Reads a file in LevelDB's log format, used for logs and manifests. A crash leaves an incomplete record only at the
 * end, so unreadable bytes before a readable record mean damage.
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
    // An empty fragment is valid only where there is no room for more than a header. Inside damaged bytes it proves
    // nothing.
    if (part === undefined || (unreadableFrom !== undefined && part.data.length === 0)) {
      unreadableFrom ??= parted?.from ?? offset;
      parted = undefined;
      offset++;
      continue;
    }
    damagedAt ??= unreadableFrom;
    unreadableFrom = undefined;
    const isStart = part.type === FULL || part.type === FIRST;
    if (isStart === (parted !== undefined)) damagedAt ??= parted?.from ?? offset;
    if (isStart) parted = { from: offset, parts: [] };
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

/** Returns the record or fragment at the offset; undefined if there is none. */
function partAt(bytes: Uint8Array, offset: number, room: number): Part | undefined {
  if (offset + HEADER_BYTES > bytes.length) return undefined;
  const length = bytes[offset + 4]! | (bytes[offset + 5]! << 8);
  const type = bytes[offset + 6]!;
  const end = offset + HEADER_BYTES + length;
  if (type < FULL || type > LAST || HEADER_BYTES + length > room || end > bytes.length) return undefined;
  const checksum = new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true);
  // The checksum covers the type and the data, which are adjacent.
  if (!matchesChecksum(checksum, bytes.subarray(offset + HEADER_BYTES - 1, end))) return undefined;
  return { type, data: bytes.subarray(offset + HEADER_BYTES, end) };
}
