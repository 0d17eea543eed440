import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { SharedStream } from "../../json/shared-stream.ts";
import type { ObservedCall } from "../call-observer.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError, UNREAD_LIMIT_MESSAGE } from "../http/http-error.ts";
import { BUFFERED_FROM_BYTES } from "../http/request/byte-budget.ts";
import { ChunkStream, meterParts, openStream, type ResponsePart } from "../http/response/chunk-stream.ts";
import { compressWhole, createCompressor, isWorthCompressing } from "../http/response/compression.ts";
import { entityTag, matchesTag } from "../http/response/entity-tag.ts";
import { MEDIA_TYPES, prefersGzip } from "../http/response/negotiation.ts";
import { writeBody, writeStream } from "../http/response/send.ts";
import type { BodyPart, CacheLifetime, RestResponse } from "./route-table.ts";

const CACHE_CONTROL: Record<CacheLifetime, string> = {
  never: "no-store",
  "while-unchanged": "no-cache",
  forever: "public, max-age=31536000, immutable",
};

/** If a token is required, shared caches must not store responses. */
const PRIVATE_CACHE_CONTROL: Record<CacheLifetime, string> = {
  never: "no-store",
  "while-unchanged": "private, no-cache",
  forever: "private, max-age=31536000, immutable",
};

const VARY = "Accept, Accept-Encoding";

/** A response whose first chunk has arrived. It is too late to respond with an error instead. */
export interface OpenResponse {
  answer: RestResponse;
  body: Buffer | ChunkStream | undefined;
  /** The length of a stream, if known in advance. */
  length?: number | undefined;
}

/**
 * Waits for the first chunk of a streamed response. Rejects if the stream fails before its first chunk, and throws an
 * `HttpError` if the memory limit for unread responses has been reached.
 */
export function openResponse(
  answer: RestResponse,
  exchange: Exchange,
  observedCall: ObservedCall | undefined,
): OpenResponse | Promise<OpenResponse> {
  const parts = answer.content?.parts;
  if (parts === undefined) return { answer, body: undefined };
  if (!parts.every((part) => Buffer.isBuffer(part))) return openStreamed(answer, parts, observedCall);
  const body = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (body.length >= BUFFERED_FROM_BYTES && !exchange.reserveResponse(body.length))
    throw new HttpError(503, UNREAD_LIMIT_MESSAGE);
  observedCall?.bytes(body.length);
  return { answer, body };
}

async function openStreamed(
  answer: RestResponse,
  parts: readonly BodyPart[],
  observedCall: ObservedCall | undefined,
): Promise<OpenResponse> {
  const openParts = await Promise.all(parts.map(opened));
  if (observedCall) meterParts(openParts, observedCall.bytes);
  return { answer, body: new ChunkStream(openParts), length: lengthOf(parts) };
}

/** Closes a response that is not going to be sent. */
export function closeResponse({ body }: OpenResponse): void {
  if (body !== undefined && !Buffer.isBuffer(body)) void body.return();
}

/**
 * Writes a response. Returns a promise if it is compressed or streamed. If a stream fails, destroys the connection and
 * rejects.
 */
export function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  { answer, body, length }: OpenResponse,
  needsToken: boolean,
): Promise<void> | undefined {
  if (res.destroyed) {
    closeResponse({ answer, body });
    return undefined;
  }
  const { status, content } = answer;
  // Responses to POST requests are not cached.
  const cacheLifetime = req.method === "POST" ? "never" : (answer.cacheLifetime ?? "never");
  // Calling `writeHead` once is cheaper than calling `setHeader` for each header.
  const cacheControl = needsToken ? PRIVATE_CACHE_CONTROL : CACHE_CONTROL;
  const headers: OutgoingHttpHeaders = { ...answer.headers, "Cache-Control": cacheControl[cacheLifetime] };
  const tag = cacheLifetime === "never" ? undefined : (answer.tag ?? tagOfBody(body));
  if (tag !== undefined) headers.ETag = tag;
  if (content !== undefined || status === 304) {
    headers.Vary = res.hasHeader("Vary") ? `${res.getHeader("Vary")}, ${VARY}` : VARY;
  }
  if (status === 304 || (tag !== undefined && isHeld(req.headers["if-none-match"], tag))) {
    closeResponse({ answer, body });
    res.writeHead(304, headers).end();
    return undefined;
  }
  if (content === undefined || body === undefined) {
    if (status !== 204) headers["Content-Length"] = 0;
    res.writeHead(status, headers).end();
    return undefined;
  }
  headers["Content-Type"] = MEDIA_TYPES[content.format];
  const compressed = prefersGzip(req.headers["accept-encoding"]);
  if (!Buffer.isBuffer(body)) {
    if (!compressed && length !== undefined) headers["Content-Length"] = length;
    return sendStream(req, res, status, headers, body, compressed);
  }
  if (compressed && isWorthCompressing(body.length)) return sendCompressed(res, status, headers, body);
  sendWhole(res, status, headers, body);
  return undefined;
}

async function sendCompressed(
  res: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Buffer,
): Promise<void> {
  const content = await compressWhole(body);
  sendWhole(res, status, { ...headers, "Content-Encoding": "gzip" }, content);
}

function sendWhole(res: ServerResponse, status: number, headers: OutgoingHttpHeaders, content: Buffer): void {
  if (res.destroyed) return;
  headers["Content-Length"] = content.length;
  res.writeHead(status, headers);
  writeBody(res, [content], content.length);
}

async function sendStream(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  chunks: ChunkStream,
  compressed: boolean,
): Promise<void> {
  if (compressed) headers["Content-Encoding"] = "gzip";
  res.writeHead(status, headers);
  if (req.method === "HEAD") {
    await chunks.return();
    res.end();
    return;
  }
  await writeStream(res, chunks, compressed ? createCompressor() : undefined);
}

async function opened(part: BodyPart): Promise<ResponsePart> {
  return Buffer.isBuffer(part) ? part : openStream(part);
}

function lengthOf(parts: readonly BodyPart[]): number | undefined {
  let length = 0;
  for (const part of parts) {
    const partLength = Buffer.isBuffer(part) || part instanceof SharedStream ? part.length : undefined;
    if (partLength === undefined) return undefined;
    length += partLength;
  }
  return length;
}

function tagOfBody(body: OpenResponse["body"]): string | undefined {
  return Buffer.isBuffer(body) ? entityTag(body) : undefined;
}

function isHeld(ifNoneMatch: string | undefined, tag: string): boolean {
  return ifNoneMatch?.trim() === "*" || matchesTag(ifNoneMatch, tag);
}
