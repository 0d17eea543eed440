import { pipeline, Readable, type Transform } from "node:stream";
import { createDeflate, createInflate } from "node:zlib";
import { PatchReader } from "../patch.ts";

/** LevelDB writes an entry in one piece, which blocks other writes. */
const PART_BYTES = 2 ** 20;
const CHUNK_BYTES = 2 ** 18;
/** Public keys and roots are incompressible; the rest compresses well at any level, so the fastest level is used. */
const LEVEL = 1;

/** Compresses a patch on the thread pool and splits it into parts of equal length; the last one may be shorter. */
export async function* compressPatch(patch: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of through(patch, createDeflate({ level: LEVEL, chunkSize: CHUNK_BYTES }))) {
    waiting.push(chunk);
    length += chunk.length;
    if (length < PART_BYTES) continue;
    const bytes = Buffer.concat(waiting);
    yield bytes.subarray(0, PART_BYTES);
    waiting = [bytes.subarray(PART_BYTES)];
    length -= PART_BYTES;
  }
  yield Buffer.concat(waiting);
}

/** Applies a compressed patch to the base and returns the result. Throws if the patch is invalid. */
export async function applyCompressedPatch(
  parts: AsyncIterable<Uint8Array>,
  base: Uint8Array,
  length: number,
): Promise<Uint8Array> {
  const reader = new PatchReader(base, length);
  for await (const chunk of through(parts, createInflate({ chunkSize: CHUNK_BYTES }))) reader.add(chunk);
  return reader.end();
}

/** Pipes bytes through a transform. Errors surface in the reader. */
function through(bytes: AsyncIterable<Uint8Array>, transform: Transform): AsyncIterable<Uint8Array> {
  pipeline(Readable.from(bytes, { objectMode: false }), transform, () => {});
  return transform;
}
