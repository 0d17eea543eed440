import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { compressWhole, createCompressor, isWorthCompressing } from "../http/compression.ts";
import { type Exchange, HELD_FROM_BYTES } from "../http/exchanges.ts";
import { MEDIA_TYPES, prefersGzip } from "../http/negotiation.ts";
import { TOO_MUCH_UNREAD } from "../http/refusal.ts";
import { sendRefusal, writeStream, writeWhole } from "../http/send.ts";
import type { MessageResponse } from "./execute.ts";

/**
 * Writes the response to one message. Rejects with what a streamed result throws; the connection is then already cut, which
 * is all that is left to tell the client.
 */
export async function sendResponse(exchange: Exchange, response: MessageResponse | undefined): Promise<void> {
  const { res } = exchange;
  exchange.answer();
  if (response === undefined) {
    if (!res.destroyed) res.writeHead(204).end();
    return;
  }
  const { body, headers } = response;
  exchange.record?.answeredWith(headers);
  if (Array.isArray(body)) {
    let length = 0;
    for (const piece of body) length += piece.length;
    if (isWorthCompressing(length)) await sendLarge(exchange, body, length, headers);
    else sendWhole(res, body, length, headers);
  } else if (res.destroyed) {
    await body.return();
  } else {
    const isCompressed = wantsGzip(res);
    res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, ...compressionHeaders(res, isCompressed) });
    await writeStream(res, body, isCompressed ? createCompressor() : undefined);
  }
}

async function sendLarge(
  exchange: Exchange,
  body: Buffer[],
  length: number,
  headers: OutgoingHttpHeaders | undefined,
): Promise<void> {
  const { res } = exchange;
  if (length >= HELD_FROM_BYTES && !exchange.holdAnswer(length)) {
    const bytes = sendRefusal(res, 503, TOO_MUCH_UNREAD);
    exchange.record?.sent(bytes);
    return;
  }
  const isCompressed = wantsGzip(res);
  const sent = isCompressed ? [await compressWhole(Buffer.concat(body, length))] : body;
  const sentLength = isCompressed ? sent[0]!.length : length;
  sendWhole(res, sent, sentLength, { ...headers, ...compressionHeaders(res, isCompressed) });
}

function sendWhole(
  res: ServerResponse,
  body: Buffer[],
  length: number,
  headers: OutgoingHttpHeaders | undefined,
): void {
  if (res.destroyed) return;
  res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": length });
  writeWhole(res, body, length);
}

/** Of an answer that is large enough to be compressed when that is asked for. */
function compressionHeaders(res: ServerResponse, isCompressed: boolean): OutgoingHttpHeaders {
  const varies = res.getHeader("Vary");
  const Vary = varies === undefined ? "Accept-Encoding" : `${varies}, Accept-Encoding`;
  return isCompressed ? { Vary, "Content-Encoding": "gzip" } : { Vary };
}

const wantsGzip = ({ req }: ServerResponse) => prefersGzip(req.headers["accept-encoding"]);
