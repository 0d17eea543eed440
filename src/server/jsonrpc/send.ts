import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Exchange } from "../http/exchange.ts";
import { UNREAD_LIMIT_MESSAGE } from "../http/http-error.ts";
import { BUFFERED_FROM_BYTES } from "../http/request/byte-budget.ts";
import type { ChunkStream } from "../http/response/chunk-stream.ts";
import { compressWhole, createCompressor, isWorthCompressing } from "../http/response/compression.ts";
import { MEDIA_TYPES, prefersGzip } from "../http/response/negotiation.ts";
import { sendError, writeBody, writeStream } from "../http/response/send.ts";
import type { MessageResponse } from "./execute.ts";

/**
 * Writes the response to a message. Returns a promise unless the response is small. If a streamed result fails, destroys
 * the connection and rejects.
 */
export function sendResponse(exchange: Exchange, response: MessageResponse | undefined): Promise<void> | undefined {
  const { res } = exchange;
  exchange.beginResponse();
  if (response === undefined) {
    if (!res.destroyed) res.writeHead(204).end();
    return undefined;
  }
  const { body, headers } = response;
  exchange.record?.setResponseHeaders(headers);
  if (!Array.isArray(body)) return sendStream(res, body, headers);
  let length = 0;
  for (const piece of body) length += piece.length;
  if (isWorthCompressing(length)) return sendLarge(exchange, body, length, headers);
  sendWhole(res, body, length, headers);
  return undefined;
}

async function sendStream(
  res: ServerResponse,
  body: ChunkStream,
  headers: OutgoingHttpHeaders | undefined,
): Promise<void> {
  if (res.destroyed) {
    await body.return();
    return;
  }
  const isCompressed = wantsGzip(res);
  res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, ...compressionHeaders(res, isCompressed) });
  await writeStream(res, body, isCompressed ? createCompressor() : undefined);
}

async function sendLarge(
  exchange: Exchange,
  body: Buffer[],
  length: number,
  headers: OutgoingHttpHeaders | undefined,
): Promise<void> {
  const { res } = exchange;
  if (length >= BUFFERED_FROM_BYTES && !exchange.reserveResponse(length)) {
    const bytes = sendError(res, 503, UNREAD_LIMIT_MESSAGE);
    exchange.record?.addBytes(bytes);
    return;
  }
  const isCompressed = wantsGzip(res);
  const content = isCompressed ? [await compressWhole(Buffer.concat(body, length))] : body;
  const contentLength = isCompressed ? content[0]!.length : length;
  sendWhole(res, content, contentLength, { ...headers, ...compressionHeaders(res, isCompressed) });
}

function sendWhole(
  res: ServerResponse,
  body: Buffer[],
  length: number,
  headers: OutgoingHttpHeaders | undefined,
): void {
  if (res.destroyed) return;
  res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": length });
  writeBody(res, body, length);
}

/** Returns the headers for a response that is large enough to be compressed. */
function compressionHeaders(res: ServerResponse, isCompressed: boolean): OutgoingHttpHeaders {
  const varies = res.getHeader("Vary");
  const Vary = varies === undefined ? "Accept-Encoding" : `${varies}, Accept-Encoding`;
  return isCompressed ? { Vary, "Content-Encoding": "gzip" } : { Vary };
}

const wantsGzip = ({ req }: ServerResponse) => prefersGzip(req.headers["accept-encoding"]);
