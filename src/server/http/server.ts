import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { MEDIA_TYPES } from "./negotiation.ts";
import { errorBody } from "./refusal.ts";

export interface HttpServer {
  /** Rejects with the system's error, whose `code` is `EADDRINUSE` when the port is taken. */
  listen(where: { host: string; port: number }): Promise<ListeningAddress>;
  /** Accepts nothing more, lets running calls finish, then closes every connection. */
  close(): Promise<void>;
}

export interface ListeningAddress {
  host: string;
  port: number;
  url: string;
}

export interface HttpLimits {
  /** The largest request body. */
  bodyBytes: number;
  /** How long a request may run, and how long a client may stop reading its answer. */
  requestMillis: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  // A block with its blobs passes one MiB easily.
  bodyBytes: 32 * 1024 * 1024,
  requestMillis: 60_000,
};

/** In milliseconds, as options of Node's HTTP server. */
export const CONNECTION_TIMEOUTS = {
  /** How long a client may take to send a request, so that half-sent ones do not hold connections for ever. */
  requestTimeout: 300_000,
  /** How long a connection may stay idle. Longer than the minute that proxies keep theirs, which would else find it closed. */
  keepAliveTimeout: 72_000,
};

/** Where a server listens. */
export function listeningAddress(server: Server, givenUrl?: string): ListeningAddress {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server is not bound to an IP address.");
  const { address, family, port } = bound;
  const url = givenUrl ?? `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  return { host: address, port, url };
}

/** The responses that a server still owes. */
export class OpenResponses implements Iterable<ServerResponse> {
  readonly #open = new Set<ServerResponse>();
  #whenNoneIsLeft: (() => void) | undefined;

  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#open.values();
  }

  add(res: ServerResponse): void {
    this.#open.add(res);
  }

  delete(res: ServerResponse): void {
    this.#open.delete(res);
    if (this.#open.size === 0) this.#whenNoneIsLeft?.();
  }

  async drained(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenNoneIsLeft = resolve;
    });
  }
}

/** Closes a server once its open responses are sent; `endStreams` ends what would never end by itself. */
export async function closeGracefully(
  server: Server,
  open: OpenResponses,
  endStreams: () => Promise<void> | void,
): Promise<void> {
  // Also closes the connections that are idle now.
  const closed = new Promise((resolve) => server.close(resolve));
  await endStreams();
  await open.drained();
  // What remains has no call running: half-sent requests, and connections whose streamed answer promised keep-alive.
  server.closeAllConnections();
  await closed;
}

const CLIENT_ERRORS: Record<string, [status: number, reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The headers of the request are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request was not sent in time."],
};

/** Answers what is not HTTP, or not all of it: there is a connection, but no request to answer. */
export function answerClientError({ code }: { code?: string }, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, message] = CLIENT_ERRORS[code ?? ""] ?? [400, "Bad Request", "The request is not valid HTTP."];
  const body = errorBody(status, message);
  const headers = `Content-Type: ${MEDIA_TYPES.json}\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers}\r\n\r\n${body}`);
}
