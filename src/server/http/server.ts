import type { Server } from "node:http";
import type { Socket } from "node:net";
import { errorBody } from "./http-error.ts";
import { MEDIA_TYPES } from "./response/negotiation.ts";

export interface HttpServer {
  /** Rejects with the system error, whose `code` is `EADDRINUSE` if the port is taken. */
  listen(where: { host: string; port: number }): Promise<ListeningAddress>;
  /** Stops accepting requests, waits for running calls, and then closes all connections. */
  close(): Promise<void>;
  load(): ServerLoad;
}

/** URLs of the running API servers. */
export interface Endpoints {
  "json-rpc"?: string | undefined;
  rest?: string | undefined;
}

/** Limits for which rejections are counted. */
export type ServerLimit = "connections" | "request rate" | "request bytes" | "answer bytes";

/** A server's current load, for metrics. */
export interface ServerLoad {
  connections: number;
  /** Number of requests whose responses are incomplete. */
  requests: number;
  requestBytes: number;
  responseBytes: number;
  /** Number of rejections since the server was started, by limit. */
  refused: Record<ServerLimit, number>;
}

export interface ListeningAddress {
  host: string;
  port: number;
  url: string;
}

export interface HttpLimits {
  /** Maximum size of a request body for methods with large parameters, such as a block. */
  bodyBytes: number;
  /** Maximum size of a request body for all other methods. */
  smallBodyBytes: number;
  /** Maximum memory for the request bodies of all clients. */
  heldBytes: number;
  /** Maximum memory for unread responses to all clients. */
  unreadBytes: number;
  connections: number;
  /** Maximum number of pipelined requests per connection. */
  pipelinedRequests: number;
  /** Maximum number of requests per second from one address. Undefined for no limit. */
  requestsPerSecond: number | undefined;
  /** Time limit for a request. */
  requestMillis: number;
  /** How long a client may be idle in the middle of a request or response. */
  stallMillis: number;
  /** How long clients may delay shutdown. */
  closeMillis: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  // A block and its blobs easily exceed one MiB.
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

/** Timeouts of Node's HTTP server, in milliseconds. */
export const CONNECTION_TIMEOUTS = {
  /** Time limit for sending a complete request. */
  requestTimeout: 300_000,
  /**
   * Longer than the usual idle timeout of proxies, which is one minute. Otherwise a proxy could reuse a connection that
   * is being closed.
   */
  keepAliveTimeout: 72_000,
};

/**
 * Maximum length of the accept queue. The system may enforce a lower limit. Clients for which there is no room retry
 * after a second.
 */
export const LISTEN_BACKLOG = 4096;

/** Returns the address on which a server listens. */
export function listeningAddress(server: Server): ListeningAddress {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("Server is not bound to an IP address");
  const { address, family, port } = bound;
  const url = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  return { host: address, port, url };
}

const CLIENT_ERRORS: Record<string, [status: number, reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The URL or the headers are too large."],
  URL_OVERFLOW: [414, "URI Too Long", "The URL is too long."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request was not sent in time."],
};

interface ClientError {
  code?: string;
  /** The last packet received. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

/** Responds to malformed or incomplete HTTP, for which there is no request object. */
export function respondToClientError(error: ClientError, socket: Socket): void {
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
 * Returns true if the header size limit was exceeded within the URL. Only looks at the last packet: the URL contains no
 * whitespace and is located by the method before it or the version after it. Returns false if the packet contains
 * neither.
 */
function isInUrl({ rawPacket, bytesParsed = 0 }: ClientError): boolean {
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1") : "";
  const [method = ""] = /^[A-Z]+ /.exec(text) ?? [];
  if (/\s/.test(text.slice(method.length, bytesParsed))) return false;
  return method !== "" || text.startsWith(" HTTP/1.", bytesParsed);
}
