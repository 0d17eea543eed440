import { crc32c } from "@node-rs/crc32";
import { compressSync, uncompressSync } from "snappy";
import { maxCompressedLength, uncompressedLength } from "../snappy-length.ts";
import { ProtocolViolation, UnexpectedEnd } from "./errors.ts";
import type { StreamReader } from "./stream-io.ts";

/** Minimum and maximum size of an SSZ type, in bytes. */
export interface SizeBounds {
  minSize: number;
  maxSize: number;
}

/**
 * Encodes a payload as its length followed by snappy frames (phase0/p2p-interface.md, SSZ-snappy encoding strategy).
 */
export function encodePayload(data: Uint8Array): Uint8Array {
  return Buffer.concat([encodeVarint(data.length), encodeFrames(data)]);
}

/**
 * Reads a payload from a stream. If its length is out of bounds, throws a `ProtocolViolation` before reading further.
 */
export async function readPayload(
  reader: Pick<StreamReader, "read">,
  bounds: SizeBounds,
  maxPayload: number,
): Promise<Uint8Array> {
  const size = await readLength(reader);
  if (size < bounds.minSize || size > Math.min(bounds.maxSize, maxPayload)) {
    throw new ProtocolViolation("The payload length is out of range for its type.");
  }
  try {
    return await decodeFrames((count) => reader.read(count), Number(size));
  } catch (error) {
    // Some clients do not write any frames for an empty payload.
    if (size === 0n && error instanceof UnexpectedEnd) return new Uint8Array(0);
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
  if (value === undefined) throw new ProtocolViolation("The payload length is not a valid 64-bit varint.");
  return value;
}

/** Length of a 64-bit varint. */
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

/** Decodes the varint at the start of the bytes. Returns undefined if the varint is incomplete or exceeds 64 bits. */
export function decodeVarint(bytes: Uint8Array): bigint | undefined {
  let value = 0n;
  for (const [index, byte] of bytes.entries()) {
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return value <= MAX_UINT64 ? value : undefined;
  }
  return undefined;
}

// Snappy framing format: https://github.com/google/snappy/blob/main/framing_format.txt
const IDENTIFIER_CHUNK = Buffer.from([0xff, 6, 0, 0, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]);
const COMPRESSED = 0x00;
const UNCOMPRESSED = 0x01;
const FIRST_SKIPPABLE = 0x80;
const IDENTIFIER = 0xff;
const HEADER_BYTES = 4;
const CHECKSUM_BYTES = 4;
const MAX_FRAME_BYTES = 65_536;
/** Maximum size of a chunk, whether compressed or uncompressed. */
const MAX_CHUNK_BYTES = CHECKSUM_BYTES + maxCompressedLength(MAX_FRAME_BYTES);

/** Reads exactly `count` bytes. */
export type ReadBytes = (count: number) => Promise<Uint8Array>;

/** Compresses data into the snappy framing format. */
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

/** Decodes snappy frames with a total of `size` uncompressed bytes. Does not read past the last frame. */
export async function decodeFrames(read: ReadBytes, size: number): Promise<Uint8Array> {
  let budget = maxCompressedLength(size);
  const nextChunk = async (): Promise<{ type: number; body: Uint8Array }> => {
    const header = await read(HEADER_BYTES);
    const [type = 0, low = 0, middle = 0, high = 0] = header;
    const length = low | (middle << 8) | (high << 16);
    budget -= HEADER_BYTES + length;
    if (budget < 0) throw new ProtocolViolation("The compressed data is longer than its uncompressed length allows.");
    if (type < FIRST_SKIPPABLE && length > MAX_CHUNK_BYTES) throw new ProtocolViolation("A snappy frame is too long.");
    return { type, body: length === 0 ? new Uint8Array(0) : await read(length) };
  };

  const first = await nextChunk();
  if (first.type !== IDENTIFIER)
    throw new ProtocolViolation("The compressed data does not start with the snappy stream identifier.");
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
  if (type !== COMPRESSED && type !== UNCOMPRESSED) throw new ProtocolViolation("A snappy frame has an unknown type.");
  if (body.length < CHECKSUM_BYTES) throw new ProtocolViolation("A snappy frame has no checksum.");
  const content = body.subarray(CHECKSUM_BYTES);
  const length = type === COMPRESSED ? uncompressedLength(content) : content.length;
  if (length === undefined) throw new ProtocolViolation("A snappy frame lacks its uncompressed length.");
  if (length > MAX_FRAME_BYTES) throw new ProtocolViolation("A snappy frame exceeds 64 KiB.");
  if (length > missing) throw new ProtocolViolation("The frames exceed the payload length.");
  const frame = type === COMPRESSED ? uncompress(content) : content;
  const expected = new DataView(body.buffer, body.byteOffset, CHECKSUM_BYTES).getUint32(0, true);
  if (checksum(frame) !== expected) throw new ProtocolViolation("A snappy frame has a wrong checksum.");
  return frame;
}

/**
 * Converts a `Buffer` to a plain `Uint8Array`, whose `slice` copies. Otherwise decoded values would retain the whole
 * buffer.
 */
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
    throw new ProtocolViolation("The snappy stream identifier is wrong.");
}

/** CRC-32C, masked as the framing format requires. */
function checksum(data: Uint8Array): number {
  const crc = crc32c(Buffer.from(data.buffer, data.byteOffset, data.length));
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
