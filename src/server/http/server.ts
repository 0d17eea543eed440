import type { Server } from "node:http";
import type { Socket } from "node:net";
import { MEDIA_TYPES } from "./negotiation.ts";
import { errorBody } from "./refusal.ts";

export interface HttpServer {
  /** Rejects with the system's error, whose `code` is `EADDRINUSE` when the port is taken. */
  listen(where: { host: string; port: number }): Promise<ListeningAddress>;
  /** Accepts nothing more, lets running calls finish, then closes every connection. */
  close(): Promise<void>;
  load(): ServerLoad;
}

/** The limits of a server, by what is counted when they are reached. */
export type ServerLimit = "connections" | "request rate" | "request bytes" | "answer bytes";

/** What a server has under way, for who watches the node. */
export interface ServerLoad {
  connections: number;
  /** Requests that are not wholly answered. */
  requests: number;
  requestBytes: number;
  answerBytes: number;
  /** How often something was refused for a limit, since the start. */
  refused: Record<ServerLimit, number>;
}

export interface ListeningAddress {
  host: string;
  port: number;
  url: string;
}

export interface HttpLimits {
  /** The largest body of a request that brings a list or an object, such as a block. */
  bodyBytes: number;
  /** The largest body of any other request. */
  smallBodyBytes: number;
  /** How much of requests that are not answered yet is held, of all clients together. */
  heldBytes: number;
  /** How much of answers that are not read yet is held, of all clients together. */
  unreadBytes: number;
  /** How many connections there may be at once. */
  connections: number;
  /** How many requests a connection may have sent ahead of the answer that it gets next. */
  pipelinedRequests: number;
  /** How many requests a second an address may make; undefined for as many as it likes. */
  requestsPerSecond: number | undefined;
  /** How long a request may run. */
  requestMillis: number;
  /** How long a client may neither send the rest of its request nor read the rest of its answer. */
  stallMillis: number;
  /** How long the clients may hold off the closing of the server. */
  closeMillis: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  // A block with its blobs passes one MiB easily.
  bodyBytes: 32 * 1024 * 1024,
  smallBodyBytes: 1024 * 1024,
  heldBytes: 256 * 1024 * 1024,
  unreadBytes: 512 * 1024 * 1024,
  connections: 10_000,
  pipelinedRequests: 16,
  requestsPerSecond: undefined,
  requestMillis: 60_000,
  stallMillis: 30_000,
  closeMillis: 5_000,
};

/** In milliseconds, as options of Node's HTTP server. */
export const CONNECTION_TIMEOUTS = {
  /** How long a client may take to send a request, so that half-sent ones do not hold connections for ever. */
  requestTimeout: 300_000,
  /** How long a connection may stay idle. Longer than the minute that proxies keep theirs, which would else find it closed. */
  keepAliveTimeout: 72_000,
};

/**
 * How many connections may wait until they are accepted, as far as the system lets them. Beyond that a client tries again after a
 * second.
 */
export const LISTEN_BACKLOG = 4096;

/** Where a server listens. */
export function listeningAddress(server: Server): ListeningAddress {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server is not bound to an IP address.");
  const { address, family, port } = bound;
  const url = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  return { host: address, port, url };
}

const CLIENT_ERRORS: Record<string, [status: number, reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The URL or the headers of the request are too large."],
  URL_OVERFLOW: [414, "URI Too Long", "The URL of the request is too long."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request was not sent in time."],
};

interface ClientError {
  code?: string;
  /** What came last. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

/** Answers what is not HTTP, or not all of it: there is a connection, but no request to answer. */
export function answerClientError(error: ClientError, socket: Socket): void {
  const { code } = error;
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const kind = code === "HPE_HEADER_OVERFLOW" && isInUrl(error) ? "URL_OVERFLOW" : code;
  const [status, reason, message] = CLIENT_ERRORS[kind ?? ""] ?? [400, "Bad Request", "The request is not valid HTTP."];
  const body = errorBody(status, message);
  const headers = `Content-Type: ${MEDIA_TYPES.json}\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers}\r\n\r\n${body}`);
}

/**
 * Whether the head of a request became too large within its URL, by the packet in which it did: no blank was parsed, and the packet
 * begins with the method, or the version follows. Of the middle of a head nothing can be said.
 */
function isInUrl({ rawPacket, bytesParsed = 0 }: ClientError): boolean {
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1") : "";
  const [method = ""] = /^[A-Z]+ /.exec(text) ?? [];
  if (/\s/.test(text.slice(method.length, bytesParsed))) return false;
  return method !== "" || text.startsWith(" HTTP/1.", bytesParsed);
}
