import { decodeFrames, encodeFrames } from "./frames.ts";
import { ProtocolViolation } from "./protocol-violation.ts";
import type { StreamReader } from "./stream-reader.ts";
import { decodeVarint, encodeVarint, MAX_VARINT_BYTES } from "./varint.ts";

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
  return decodeFrames((count) => reader.read(count), Number(size));
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
