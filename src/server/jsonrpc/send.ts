import type { ServerResponse } from "node:http";
import { MEDIA_TYPES } from "../http/negotiation.ts";
import { errorBody } from "../http/refusal.ts";
import { cutWhenStalled, writeStream, writeWhole } from "../http/send.ts";
import type { MessageResponse } from "./execute.ts";

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
    if (res.destroyed) return;
    let length = 0;
    for (const piece of body) length += piece.length;
    res.writeHead(200, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": length });
    writeWhole(res, body, length);
    cutWhenStalled(res, stallMillis, length);
  } else if (res.destroyed) {
    await body.return();
  } else {
    cutWhenStalled(res, stallMillis);
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
