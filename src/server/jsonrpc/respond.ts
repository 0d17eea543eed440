import { openStream, type ResponsePart } from "../http/response/chunk-stream.ts";
import type { IdToken } from "./envelope.ts";
import type { ErrorObject } from "./errors.ts";

/** Below this size, copying the result into its envelope is cheaper than writing several buffers. */
const COPY_BELOW_BYTES = 16 * 1024;

const BATCH_START = Buffer.from("[");
const BATCH_SEPARATOR = Buffer.from(",");
const BATCH_END = Buffer.from("]");

/** Encodes an error response. */
export function errorResponse(id: IdToken, error: ErrorObject): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`);
}

type Meta = Record<string, unknown>;

/**
 * Wraps an encoded result in its response object without decoding the result. `meta` is undefined unless it was
 * requested.
 */
export function resultResponse(id: IdToken, body: Buffer, meta: Meta | undefined): Buffer[] {
  if (body.length === 0) throw new Error("Method returned an empty result");
  if (body.length >= COPY_BELOW_BYTES) return [Buffer.from(resultStart(id)), body, Buffer.from(resultEnd(meta))];
  const start = resultStart(id);
  const end = resultEnd(meta);
  // UTF-8 needs at most three bytes per UTF-16 code unit.
  const buffer = Buffer.allocUnsafe((start.length + end.length) * 3 + body.length);
  let length = buffer.write(start);
  length += body.copy(buffer, length);
  length += buffer.write(end, length);
  return [buffer.subarray(0, length)];
}

/**
 * Wraps a streamed result once its first chunk has arrived. Rejects if the stream fails before its first chunk. `meta`
 * is serialized at the end of the stream.
 */
export async function streamedResponse(
  id: IdToken,
  body: AsyncIterable<Buffer>,
  meta: Meta | undefined,
): Promise<ResponsePart[]> {
  const { first, rest } = await openStream(body);
  const withEnd = withLastChunk(rest, () => Buffer.from(resultEnd(meta)));
  return [Buffer.from(resultStart(id)), { first, rest: withEnd }];
}

/** Appends a chunk to a stream. `last` is called after all other chunks have been read. */
function withLastChunk(source: AsyncIterator<Buffer>, last: () => Buffer): AsyncIterator<Buffer> {
  let hasEnded = false;
  return {
    async next() {
      if (hasEnded) return { done: true, value: undefined };
      const next = await source.next();
      if (!next.done) return next;
      hasEnded = true;
      return { done: false, value: last() };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

function resultStart(id: IdToken): string {
  return `{"jsonrpc":"2.0","id":${id},"result":`;
}

function resultEnd(meta: Meta | undefined): string {
  return meta === undefined ? "}" : `,"meta":${JSON.stringify(meta)}}`;
}

/** Joins response objects into a batch response. */
export function batchResponse(responses: ResponsePart[][]): ResponsePart[] {
  const parts: ResponsePart[] = [];
  for (const response of responses) {
    parts.push(parts.length === 0 ? BATCH_START : BATCH_SEPARATOR, ...response);
  }
  parts.push(BATCH_END);
  return joinSmallBuffers(parts);
}

/** Merges small buffers to save socket writes. */
function joinSmallBuffers(parts: ResponsePart[]): ResponsePart[] {
  const joined: ResponsePart[] = [];
  let small: Buffer[] = [];
  const flush = () => {
    if (small.length > 0) joined.push(Buffer.concat(small));
    small = [];
  };
  for (const part of parts) {
    if (Buffer.isBuffer(part) && part.length < COPY_BELOW_BYTES) {
      small.push(part);
    } else {
      flush();
      joined.push(part);
    }
  }
  flush();
  return joined;
}
