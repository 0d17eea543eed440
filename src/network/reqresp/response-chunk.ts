import { ResponseCode } from "./protocols.ts";
import { encodePayload, readPayload, type SizeBounds } from "./ssz-snappy.ts";
import type { StreamReader } from "./stream-io.ts";

const FORK_DIGEST_BYTES = 4;
const ERROR_MESSAGE_BOUNDS: SizeBounds = { minSize: 0, maxSize: 256 };

/** Format of a response's success chunks. */
export interface ChunkFormat {
  /** True if a fork digest precedes the payload (altair/p2p-interface.md, ForkDigest-context). */
  hasForkDigest: boolean;
  /** Returns the size bounds. The digest is empty if the format has none. */
  boundsOf(forkDigest: Uint8Array): SizeBounds;
}

export interface ResponseChunk {
  forkDigest: Uint8Array;
  bytes: Uint8Array;
}

export function encodeChunk(bytes: Uint8Array, forkDigest: Uint8Array = new Uint8Array(0)): Uint8Array {
  return Buffer.concat([Uint8Array.of(ResponseCode.SUCCESS), forkDigest, encodePayload(bytes)]);
}

export function encodeErrorChunk(code: number, message: string): Uint8Array {
  const text = new TextEncoder().encode(message).subarray(0, ERROR_MESSAGE_BOUNDS.maxSize);
  return Buffer.concat([Uint8Array.of(code), encodePayload(text)]);
}

/** Reads the rest of a success chunk, after the response code. */
export async function readChunk(reader: StreamReader, format: ChunkFormat, maxPayload: number): Promise<ResponseChunk> {
  const forkDigest = format.hasForkDigest ? await reader.read(FORK_DIGEST_BYTES) : new Uint8Array(0);
  const bytes = await readPayload(reader, format.boundsOf(forkDigest), maxPayload);
  return { forkDigest, bytes };
}

/** Reads an error message after the response code. Invalid UTF-8 is replaced. */
export async function readErrorMessage(reader: StreamReader): Promise<string> {
  const bytes = await readPayload(reader, ERROR_MESSAGE_BOUNDS, ERROR_MESSAGE_BOUNDS.maxSize);
  return new TextDecoder().decode(bytes);
}
