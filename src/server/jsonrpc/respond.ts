import { openStream, type ResponsePart } from "./chunk-stream.ts";
import type { IdToken } from "./envelope.ts";
import type { ErrorObject } from "./errors.ts";

/** Below this, copying the result into its envelope costs less than handing several buffers to the socket. */
const COPY_BELOW_BYTES = 64 * 1024;

const CLOSING_BRACE = Buffer.from("}");
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
  const start = resultStart(id);
  const end = resultEnd(meta);
  return body.length < COPY_BELOW_BYTES ? [Buffer.concat([start, body, end])] : [start, body, end];
}

/** The same for a streamed result, once its first bytes are there; rejects with what fails before them. */
export async function streamedResponse(
  id: IdToken,
  body: AsyncIterable<Buffer>,
  meta: Meta | undefined,
): Promise<ResponsePart[]> {
  const end = resultEnd(meta);
  return [resultStart(id), await openStream(body), end];
}

function resultStart(id: IdToken): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`);
}

function resultEnd(meta: Meta | undefined): Buffer {
  return meta === undefined ? CLOSING_BRACE : Buffer.from(`,"meta":${JSON.stringify(meta)}}`);
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
