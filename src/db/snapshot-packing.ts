import { pipeline, Readable, type Transform } from "node:stream";
import { createDeflate, createInflate } from "node:zlib";
import { PatchReader } from "./patch.ts";

/** LevelDB writes an entry in one go, and whoever else has to write waits meanwhile. */
const PART_BYTES = 2 ** 20;
const CHUNK_BYTES = 2 ** 18;
/** Public keys and roots cannot be compressed, and all else can be by any level: the lowest takes the least time. */
const LEVEL = 1;

/** The pieces of a patch, compressed in another thread, as parts of one length but for the last. */
export async function* packed(patch: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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

/** The bytes that a packed patch makes of others. Throws when the parts are not those of a patch. */
export async function unpacked(
  parts: AsyncIterable<Uint8Array>,
  base: Uint8Array,
  length: number,
): Promise<Uint8Array> {
  const reader = new PatchReader(base, length);
  for await (const chunk of through(parts, createInflate({ chunkSize: CHUNK_BYTES }))) reader.add(chunk);
  return reader.end();
}

/** What fails on the way fails whoever reads. */
function through(bytes: AsyncIterable<Uint8Array>, transform: Transform): AsyncIterable<Uint8Array> {
  pipeline(Readable.from(bytes, { objectMode: false }), transform, () => {});
  return transform;
}
