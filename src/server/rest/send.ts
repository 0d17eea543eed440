import { createHash } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { ChunkStream, openStream, type ResponsePart } from "../http/chunk-stream.ts";
import { compressWhole, createCompressor, isWorthCompressing } from "../http/compression.ts";
import { acceptsGzip, MEDIA_TYPES } from "../http/negotiation.ts";
import { cutWhenStalled, writeStream, writeWhole } from "../http/send.ts";
import type { BodyPart, Lasting, RestAnswer } from "./route-table.ts";

const CACHE_CONTROL: Record<Lasting, string> = {
  never: "no-store",
  "while-unchanged": "no-cache",
  forever: "public, max-age=31536000, immutable",
};

const VARIES_WITH = "Accept, Accept-Encoding";

/** An answer whose first bytes are there, so that it can no longer turn into an error. */
export interface OpenAnswer {
  answer: RestAnswer;
  body: Buffer | ChunkStream | undefined;
}

/** Waits for the first bytes of a streamed answer; rejects with what fails before them. */
export async function openAnswer(answer: RestAnswer): Promise<OpenAnswer> {
  const parts = answer.content?.parts;
  if (parts === undefined) return { answer, body: undefined };
  if (parts.every((part) => Buffer.isBuffer(part))) {
    return { answer, body: parts.length === 1 ? parts[0] : Buffer.concat(parts) };
  }
  return { answer, body: new ChunkStream(await Promise.all(parts.map(opened))) };
}

/** Gives up an answer that nobody waits for any more. */
export function abandonAnswer({ body }: OpenAnswer): void {
  if (body !== undefined && !Buffer.isBuffer(body)) void body.return();
}

/**
 * Writes an answer. A client that takes nothing for `stallMillis` is disconnected. Rejects with what a stream throws; the
 * connection is then already cut, which is all that is left to tell the client.
 */
export async function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  { answer, body }: OpenAnswer,
  stallMillis: number,
): Promise<void> {
  if (res.destroyed) {
    abandonAnswer({ answer, body });
    return;
  }
  const { status, content, lasting = "never" } = answer;
  // Given to the response all at once: that costs less than one after the other.
  const headers: OutgoingHttpHeaders = { ...answer.headers, "Cache-Control": CACHE_CONTROL[lasting] };
  if (content === undefined || body === undefined) {
    if (status !== 204) headers["Content-Length"] = 0;
    res.writeHead(status, headers).end();
    return;
  }
  headers["Content-Type"] = MEDIA_TYPES[content.format];
  headers.Vary = res.hasHeader("Vary") ? `${res.getHeader("Vary")}, ${VARIES_WITH}` : VARIES_WITH;
  const compressed = acceptsGzip(req.headers["accept-encoding"]);
  if (Buffer.isBuffer(body)) {
    cutWhenStalled(res, stallMillis, body.length);
    await sendWhole(req, res, status, headers, body, { compressed, lasting });
  } else {
    cutWhenStalled(res, stallMillis);
    await sendStream(req, res, status, headers, body, compressed);
  }
}

async function sendWhole(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Buffer,
  { compressed, lasting }: { compressed: boolean; lasting: Lasting },
): Promise<void> {
  if (lasting !== "never") {
    headers.ETag = entityTag(body);
    if (matches(req.headers["if-none-match"], headers.ETag)) {
      delete headers["Content-Type"];
      res.writeHead(304, headers).end();
      return;
    }
  }
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

/** Weak, because the same answer may be sent compressed or not (RFC 9110, section 8.8.1). */
function entityTag(body: Buffer): string {
  return `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
}

function matches(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (text: string) => text.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((each) => each.trim() === "*" || opaque(each) === opaque(tag));
}
