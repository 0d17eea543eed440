import type { ServerResponse } from "node:http";
import { type Exchange, HELD_FROM_BYTES } from "../http/exchanges.ts";
import { MEDIA_TYPES } from "../http/negotiation.ts";
import { errorBody, TOO_MUCH_UNREAD } from "../http/refusal.ts";
import { writeStream, writeWhole } from "../http/send.ts";
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
  if (Array.isArray(body)) {
    if (res.destroyed) return;
    let length = 0;
    for (const piece of body) length += piece.length;
    if (length >= HELD_FROM_BYTES && !exchange.holdAnswer(length)) {
      sendRefusal(res, 503, TOO_MUCH_UNREAD);
      return;
    }
    res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": length });
    writeWhole(res, body, length);
  } else if (res.destroyed) {
    await body.return();
  } else {
    res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json });
    await writeStream(res, body);
  }
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
