import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { compressWhole, createCompressor, isWorthCompressing } from "../http/compression.ts";
import { acceptsGzip, MEDIA_TYPES } from "../http/negotiation.ts";
import { errorBody } from "../http/refusal.ts";
import { cutWhenStalled, writeStream, writeWhole } from "../http/send.ts";
import type { MessageResponse } from "./execute.ts";

/** Of an answer that is large enough to be compressed when that is asked for. */
const COMPRESSIBLE = { Vary: "Accept-Encoding" };
const COMPRESSED = { ...COMPRESSIBLE, "Content-Encoding": "gzip" };

/**
 * Writes the response to one message. A client that takes nothing for `stallMillis` is disconnected. Rejects with
 * what a streamed result throws; the connection is then already cut, which is all that is left to tell the client.
 */
export async function sendResponse(
  res: ServerResponse,
  response: MessageResponse | undefined,
  stallMillis: number,
): Promise<void> {
  if (response === undefined) {
    if (!res.destroyed) res.writeHead(204).end();
    return;
  }
  const { body, headers } = response;
  if (Array.isArray(body)) {
    let length = 0;
    for (const piece of body) length += piece.length;
    if (isWorthCompressing(length)) await sendLarge(res, body, length, headers, stallMillis);
    else sendWhole(res, body, length, headers, stallMillis);
  } else if (res.destroyed) {
    await body.return();
  } else {
    cutWhenStalled(res, stallMillis);
    const compressed = wantsGzip(res);
    res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, ...(compressed ? COMPRESSED : COMPRESSIBLE) });
    await writeStream(res, body, compressed ? createCompressor() : undefined);
  }
}

async function sendLarge(
  res: ServerResponse,
  body: Buffer[],
  length: number,
  headers: OutgoingHttpHeaders | undefined,
  stallMillis: number,
): Promise<void> {
  if (wantsGzip(res)) {
    const compressed = await compressWhole(Buffer.concat(body, length));
    sendWhole(res, [compressed], compressed.length, { ...headers, ...COMPRESSED }, stallMillis);
  } else {
    sendWhole(res, body, length, { ...headers, ...COMPRESSIBLE }, stallMillis);
  }
}

function sendWhole(
  res: ServerResponse,
  body: Buffer[],
  length: number,
  headers: OutgoingHttpHeaders | undefined,
  stallMillis: number,
): void {
  if (res.destroyed) return;
  res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": length });
  writeWhole(res, body, length);
  cutWhenStalled(res, stallMillis, length);
}

function wantsGzip({ req }: ServerResponse): boolean {
  return acceptsGzip(req.headers["accept-encoding"]);
}

/** The answer to a request that is refused as HTTP, before any JSON-RPC is read. */
export function sendRefusal(
  res: ServerResponse,
  status: number,
  message: string,
  headers?: Record<string, string>,
): void {
  if (res.destroyed) return;
  const body = errorBody(status, message);
  res.writeHead(status, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": body.length }).end(body);
}
