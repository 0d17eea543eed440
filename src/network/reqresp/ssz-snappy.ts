import { crc32c } from "@node-rs/crc32";
import { compressSync, uncompressSync } from "snappy";
import { announcedLength, maxCompressedLength } from "../snappy-length.ts";
import { EarlyEnd, ProtocolViolation } from "./errors.ts";
import type { StreamReader } from "./stream-io.ts";

/** Smallest and largest size of an SSZ type in bytes. */
export interface SizeBounds {
  minSize: number;
  maxSize: number;
}

/** phase0/p2p-interface.md, SSZ-snappy encoding strategy: the length, then snappy frames. */
export function encodePayload(data: Uint8Array): Uint8Array {
  return Buffer.concat([encodeVarint(data.length), encodeFrames(data)]);
}

/** The length is checked before any of the content is read. */
export async function readPayload(
  reader: Pick<StreamReader, "read">,
  bounds: SizeBounds,
  maxPayload: number,
): Promise<Uint8Array> {
  const size = await readLength(reader);
  if (size < bounds.minSize || size > Math.min(bounds.maxSize, maxPayload)) {
    throw new ProtocolViolation("The length is outside of what the type of the message allows.");
  }
  try {
    return await decodeFrames((count) => reader.read(count), Number(size));
  } catch (error) {
    // Of nothing, some write no frames at all.
    if (size === 0n && error instanceof EarlyEnd) return new Uint8Array(0);
    throw error;
  }
}

async function readLength(reader: Pick<StreamReader, "read">): Promise<bigint> {
  const bytes: number[] = [];
  while (bytes.length < MAX_VARINT_BYTES) {
    const [byte = 0] = await reader.read(1);
    bytes.push(byte);
    if (byte < 0x80) break;
  }
  const value = decodeVarint(Uint8Array.from(bytes));
  if (value === undefined) throw new ProtocolViolation("The length is no varint of at most ten bytes.");
  return value;
}

/** Enough for any unsigned number of 64 bits. */
const MAX_VARINT_BYTES = 10;
const MAX_UINT64 = (1n << 64n) - 1n;

export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** The number at the start of the bytes; undefined when it does not end within them or has more than 64 bits. */
export function decodeVarint(bytes: Uint8Array): bigint | undefined {
  let value = 0n;
  for (const [index, byte] of bytes.entries()) {
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return value <= MAX_UINT64 ? value : undefined;
  }
  return undefined;
}

// The framing format of snappy: https://github.com/google/snappy/blob/main/framing_format.txt
const IDENTIFIER_CHUNK = Buffer.from([0xff, 6, 0, 0, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]);
const COMPRESSED = 0x00;
const UNCOMPRESSED = 0x01;
const FIRST_SKIPPABLE = 0x80;
const IDENTIFIER = 0xff;
const HEADER_BYTES = 4;
const CHECKSUM_BYTES = 4;
const MAX_FRAME_BYTES = 65_536;
/** A frame that is not compressed is at most this long; one that is compressed must not be longer, or it would be of no use. */
const MAX_CHUNK_BYTES = CHECKSUM_BYTES + maxCompressedLength(MAX_FRAME_BYTES);

/** Gives exactly so many bytes. */
export type ReadBytes = (count: number) => Promise<Uint8Array>;

export function encodeFrames(data: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [IDENTIFIER_CHUNK];
  for (let start = 0; start < data.length; start += MAX_FRAME_BYTES) {
    const frame = data.subarray(start, start + MAX_FRAME_BYTES);
    const compressed = compressSync(frame);
    const useful = compressed.length < frame.length;
    const body = useful ? compressed : frame;
    const header = Buffer.allocUnsafe(HEADER_BYTES + CHECKSUM_BYTES);
    header[0] = useful ? COMPRESSED : UNCOMPRESSED;
    header.writeUIntLE(CHECKSUM_BYTES + body.length, 1, 3);
    header.writeUInt32LE(checksum(frame), HEADER_BYTES);
    parts.push(header, body);
  }
  return Buffer.concat(parts);
}

/** Reads frames until they have given `size` bytes, and nothing behind them. */
export async function decodeFrames(read: ReadBytes, size: number): Promise<Uint8Array> {
  let budget = maxCompressedLength(size);
  const nextChunk = async (): Promise<{ type: number; body: Uint8Array }> => {
    const header = await read(HEADER_BYTES);
    const [type = 0, low = 0, middle = 0, high = 0] = header;
    const length = low | (middle << 8) | (high << 16);
    budget -= HEADER_BYTES + length;
    if (budget < 0) throw new ProtocolViolation("The compressed data is longer than its length allows.");
    if (type < FIRST_SKIPPABLE && length > MAX_CHUNK_BYTES) throw new ProtocolViolation("A snappy frame is too long.");
    return { type, body: length === 0 ? new Uint8Array(0) : await read(length) };
  };

  const first = await nextChunk();
  if (first.type !== IDENTIFIER)
    throw new ProtocolViolation("The compressed data does not start with snappy's identifier.");
  checkIdentifier(first.body);
  const frames: Uint8Array[] = [];
  let missing = size;
  while (missing > 0) {
    const { type, body } = await nextChunk();
    if (type === IDENTIFIER) checkIdentifier(body);
    else if (type < FIRST_SKIPPABLE) {
      const frame = decodeFrame(type, body, missing);
      frames.push(frame);
      missing -= frame.length;
    }
  }
  const [only] = frames;
  return plainBytes(frames.length === 1 && only !== undefined ? only : Buffer.concat(frames, size));
}

function decodeFrame(type: number, body: Uint8Array, missing: number): Uint8Array {
  if (type !== COMPRESSED && type !== UNCOMPRESSED)
    throw new ProtocolViolation("A snappy frame is of an unknown type.");
  if (body.length < CHECKSUM_BYTES) throw new ProtocolViolation("A snappy frame has no checksum.");
  const content = body.subarray(CHECKSUM_BYTES);
  const length = type === COMPRESSED ? announcedLength(content) : content.length;
  if (length === undefined) throw new ProtocolViolation("A snappy frame does not tell its length.");
  if (length > MAX_FRAME_BYTES) throw new ProtocolViolation("A snappy frame holds too much.");
  if (length > missing) throw new ProtocolViolation("The frames hold more than was announced.");
  const frame = type === COMPRESSED ? uncompress(content) : content;
  const expected = new DataView(body.buffer, body.byteOffset, CHECKSUM_BYTES).getUint32(0, true);
  if (checksum(frame) !== expected) throw new ProtocolViolation("The checksum of a snappy frame is wrong.");
  return frame;
}

/** Parts of a `Buffer` share its memory where those of a plain array are copies, and what is decoded must not hold on to the rest. */
function plainBytes({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}

function uncompress(content: Uint8Array): Uint8Array {
  try {
    return uncompressSync(Buffer.from(content.buffer, content.byteOffset, content.length), {
      asBuffer: true,
    }) as Buffer;
  } catch {
    throw new ProtocolViolation("A snappy frame cannot be decompressed.");
  }
}

function checkIdentifier(body: Uint8Array): void {
  if (!IDENTIFIER_CHUNK.subarray(HEADER_BYTES).equals(body))
    throw new ProtocolViolation("Snappy's identifier is wrong.");
}

/** CRC-32C, masked as the format wants it. */
function checksum(data: Uint8Array): number {
  const crc = crc32c(Buffer.from(data.buffer, data.byteOffset, data.length));
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
