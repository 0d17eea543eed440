import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { SharedStream } from "../../json/shared-stream.ts";
import type { ObservedCall } from "../call-observer.ts";
import { ChunkStream, meterParts, openStream, type ResponsePart } from "../http/chunk-stream.ts";
import { compressWhole, createCompressor, isWorthCompressing } from "../http/compression.ts";
import { entityTag, namesTag } from "../http/entity-tag.ts";
import { type Exchange, HELD_FROM_BYTES } from "../http/exchanges.ts";
import { MEDIA_TYPES, prefersGzip } from "../http/negotiation.ts";
import { HttpRefusal, TOO_MUCH_UNREAD } from "../http/refusal.ts";
import { writeStream, writeWhole } from "../http/send.ts";
import type { BodyPart, Lasting, RestAnswer } from "./route-table.ts";

const CACHE_CONTROL: Record<Lasting, string> = {
  never: "no-store",
  "while-unchanged": "no-cache",
  forever: "public, max-age=31536000, immutable",
};

/** Of a server that needs a token: a shared cache must not pass the answer to callers without one. */
const PRIVATE_CACHE_CONTROL: Record<Lasting, string> = {
  never: "no-store",
  "while-unchanged": "private, no-cache",
  forever: "private, max-age=31536000, immutable",
};

const VARIES_WITH = "Accept, Accept-Encoding";

/** An answer whose first bytes are there, so that it can no longer turn into an error. */
export interface OpenAnswer {
  answer: RestAnswer;
  body: Buffer | ChunkStream | undefined;
  /** Of a stream whose length is known before it is read. */
  length?: number | undefined;
}

/**
 * Waits for the first bytes of a streamed answer, and fails with what fails before them. Refuses one that nothing else has room
 * beside until it is read.
 */
export function openAnswer(
  answer: RestAnswer,
  exchange: Exchange,
  observed: ObservedCall | undefined,
): OpenAnswer | Promise<OpenAnswer> {
  const parts = answer.content?.parts;
  if (parts === undefined) return { answer, body: undefined };
  if (!parts.every((part) => Buffer.isBuffer(part))) return openStreamed(answer, parts, observed);
  const body = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (body.length >= HELD_FROM_BYTES && !exchange.holdAnswer(body.length)) throw new HttpRefusal(503, TOO_MUCH_UNREAD);
  observed?.bytes(body.length);
  return { answer, body };
}

async function openStreamed(
  answer: RestAnswer,
  parts: readonly BodyPart[],
  observed: ObservedCall | undefined,
): Promise<OpenAnswer> {
  const openParts = await Promise.all(parts.map(opened));
  if (observed) meterParts(openParts, observed.bytes);
  return { answer, body: new ChunkStream(openParts), length: lengthOf(parts) };
}

/** Gives up an answer that nobody waits for any more. */
export function abandonAnswer({ body }: OpenAnswer): void {
  if (body !== undefined && !Buffer.isBuffer(body)) void body.return();
}

/**
 * Writes an answer. Rejects with what a stream throws; the connection is then already cut, which is all that is left to tell
 * the client.
 */
export async function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  { answer, body, length }: OpenAnswer,
  needsToken: boolean,
): Promise<void> {
  if (res.destroyed) {
    abandonAnswer({ answer, body });
    return;
  }
  const { status, content } = answer;
  // Nobody keeps what was answered to a POST.
  const lasting = req.method === "POST" ? "never" : (answer.lasting ?? "never");
  // Given to the response all at once: that costs less than one after the other.
  const cacheControl = needsToken ? PRIVATE_CACHE_CONTROL : CACHE_CONTROL;
  const headers: OutgoingHttpHeaders = { ...answer.headers, "Cache-Control": cacheControl[lasting] };
  const tag = lasting === "never" ? undefined : (answer.tag ?? tagOfBody(body));
  if (tag !== undefined) headers.ETag = tag;
  if (content !== undefined || status === 304) {
    headers.Vary = res.hasHeader("Vary") ? `${res.getHeader("Vary")}, ${VARIES_WITH}` : VARIES_WITH;
  }
  if (status === 304 || (tag !== undefined && isHeld(req.headers["if-none-match"], tag))) {
    abandonAnswer({ answer, body });
    res.writeHead(304, headers).end();
    return;
  }
  if (content === undefined || body === undefined) {
    if (status !== 204) headers["Content-Length"] = 0;
    res.writeHead(status, headers).end();
    return;
  }
  headers["Content-Type"] = MEDIA_TYPES[content.format];
  const compressed = prefersGzip(req.headers["accept-encoding"]);
  if (Buffer.isBuffer(body)) {
    await sendWhole(res, status, headers, body, compressed);
  } else {
    if (!compressed && length !== undefined) headers["Content-Length"] = length;
    await sendStream(req, res, status, headers, body, compressed);
  }
}

async function sendWhole(
  res: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Buffer,
  compressed: boolean,
): Promise<void> {
  let sent = body;
  if (compressed && isWorthCompressing(body.length)) {
    sent = await compressWhole(body);
    headers["Content-Encoding"] = "gzip";
  }
  headers["Content-Length"] = sent.length;
  if (res.destroyed) return;
  res.writeHead(status, headers);
  writeWhole(res, [sent], sent.length);
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
    const known = Buffer.isBuffer(part) || part instanceof SharedStream ? part.length : undefined;
    if (known === undefined) return undefined;
    length += known;
  }
  return length;
}

function tagOfBody(body: OpenAnswer["body"]): string | undefined {
  return Buffer.isBuffer(body) ? entityTag(body) : undefined;
}

function isHeld(ifNoneMatch: string | undefined, tag: string): boolean {
  return ifNoneMatch?.trim() === "*" || namesTag(ifNoneMatch, tag);
}
