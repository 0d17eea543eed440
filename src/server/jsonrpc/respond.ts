import { openStream, type ResponsePart } from "../http/chunk-stream.ts";
import type { IdToken } from "./envelope.ts";
import type { ErrorObject } from "./errors.ts";

/** Below this, copying the result into its envelope costs less than handing several buffers to the socket. */
const COPY_BELOW_BYTES = 16 * 1024;

const BATCH_START = Buffer.from("[");
const BATCH_SEPARATOR = Buffer.from(",");
const BATCH_END = Buffer.from("]");

export function errorResponse(id: IdToken, error: ErrorObject): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`);
}

type Meta = Record<string, unknown>;

/** Puts an encoded result into its response object without ever decoding it; `meta` is undefined when nobody asked. */
export function resultResponse(id: IdToken, body: Buffer, meta: Meta | undefined): Buffer[] {
  if (body.length === 0) throw new Error("The encoded result of a method is empty.");
  if (body.length >= COPY_BELOW_BYTES) return [Buffer.from(resultStart(id)), body, Buffer.from(resultEnd(meta))];
  const start = resultStart(id);
  const end = resultEnd(meta);
  // The most that UTF-8 needs for a UTF-16 unit is three bytes.
  const whole = Buffer.allocUnsafe((start.length + end.length) * 3 + body.length);
  let length = whole.write(start);
  length += body.copy(whole, length);
  length += whole.write(end, length);
  return [whole.subarray(0, length)];
}

/**
 * The same for a streamed result, once its first bytes are there; rejects with what fails before them. What stands beside it is
 * written when the stream has ended, since it may not be known before.
 */
export async function streamedResponse(
  id: IdToken,
  body: AsyncIterable<Buffer>,
  meta: Meta | undefined,
): Promise<ResponsePart[]> {
  const { first, rest } = await openStream(body);
  const withEnd = endedBy(rest, () => Buffer.from(resultEnd(meta)));
  return [Buffer.from(resultStart(id)), { first, rest: withEnd }];
}

/** A stream with one more chunk, which is made when the others have been read. */
function endedBy(source: AsyncIterator<Buffer>, last: () => Buffer): AsyncIterator<Buffer> {
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

/** Joins response objects into the array that answers a batch. */
export function batchResponse(responses: ResponsePart[][]): ResponsePart[] {
  const parts: ResponsePart[] = [];
  for (const response of responses) {
    parts.push(parts.length === 0 ? BATCH_START : BATCH_SEPARATOR, ...response);
  }
  parts.push(BATCH_END);
  return joinSmallBuffers(parts);
}

/** A thousand small answers become a few buffers instead of thousands of socket writes. */
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
