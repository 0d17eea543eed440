import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import type { Logger } from "../../log/logger.ts";
import type { Caller, MethodTable } from "../method-table.ts";
import { NULL_ID } from "./envelope.ts";
import { thrownError } from "./errors.ts";
import { createExecutor } from "./execute.ts";
import { createPostCaller } from "./post-caller.ts";
import { receiveBody } from "./receive.ts";
import { errorResponse } from "./respond.ts";
import { sendRefusal, sendResponse } from "./send.ts";
import { createWebSockets, isWebSocketUpgrade, type WebSocketLimits } from "./websocket/websockets.ts";

export interface JsonRpcLimits {
  /** The largest request body. */
  bodyBytes: number;
  /** The longest batch. */
  batchLength: number;
  /** How long a request may run, and how long a client may stop reading its answer. */
  requestMillis: number;
}

export interface JsonRpcServerOptions {
  table: MethodTable;
  logger: Logger;
  limits?: Partial<JsonRpcLimits>;
  webSocketLimits?: Partial<WebSocketLimits>;
}

export interface ListeningAddress {
  host: string;
  port: number;
  url: string;
}

export interface JsonRpcServer {
  /** Rejects with the system's error, whose `code` is `EADDRINUSE` when the port is taken. */
  listen(where: { host: string; port: number }): Promise<ListeningAddress>;
  /** Accepts nothing more, lets running calls finish, then closes every connection. */
  close(): Promise<void>;
}

const DEFAULT_LIMITS: JsonRpcLimits = {
  // A block with its blobs passes one MiB easily.
  bodyBytes: 32 * 1024 * 1024,
  batchLength: 1000,
  requestMillis: 60_000,
};

/** How long a client may take to send a request, so that half-sent ones do not hold connections for ever. */
const RECEIVE_MILLIS = 300_000;

/** How long a connection may stay idle. Longer than the minute that proxies keep theirs, which would else find it closed. */
const IDLE_MILLIS = 72_000;

/** Requiring one of these also keeps web pages from sending "simple" cross-site requests. */
const MEDIA_TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

export function createJsonRpcServer(options: JsonRpcServerOptions): JsonRpcServer {
  const { table, logger, webSocketLimits } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const execute = createExecutor({ table, logger, ...limits });
  const webSockets = createWebSockets({ execute, logger, messageBytes: limits.bodyBytes, limits: webSocketLimits });
  const running = new Set<ServerResponse>();
  let closing: Promise<void> | undefined;
  let nothingRuns: (() => void) | undefined;
  let caller: Caller | undefined;

  // There is one resource; whatever path a client was configured with leads to it.
  const http = {
    requestTimeout: RECEIVE_MILLIS,
    keepAliveTimeout: IDLE_MILLIS,
    // Some HTTP clients offer an upgrade to HTTP/2 with every request, which is theirs to do and ours to ignore.
    shouldUpgradeCallback: isWebSocketUpgrade,
  };
  const server = createServer(http, (req, res) => {
    if (req.method !== "POST") {
      req.resume();
      answerOtherMethod(req, res);
    } else if (!isJson(req.headers["content-type"])) {
      req.resume();
      refuseMediaType(res);
    } else {
      receiveBody(
        req,
        limits.bodyBytes,
        (body) => void serve(body, res),
        () => sendRefusal(res, 413, `The request body is larger than ${limits.bodyBytes} bytes.`),
      );
    }
  });
  server.on("upgrade", webSockets.accept);
  server.on("connection", (socket) => {
    socket.once("close", () => closePipelined(socket));
  });

  async function serve(body: Buffer, res: ServerResponse): Promise<void> {
    running.add(res);
    try {
      const response = await execute(body, caller);
      if (closing !== undefined) res.shouldKeepAlive = false;
      await sendResponse(res, response, limits.requestMillis);
    } catch (error) {
      logger.error("A JSON-RPC request could not be answered as it should.", { error: inspect(error) });
      if (!res.destroyed && !res.headersSent) {
        await sendResponse(res, { body: [errorResponse(NULL_ID, thrownError(error))] }, limits.requestMillis);
      }
    }
    if (res.destroyed) forget.call(res);
    else res.on("close", forget);
  }

  // One function for all responses, since this is added to every one of them.
  function forget(this: ServerResponse): void {
    running.delete(this);
    if (running.size === 0) nothingRuns?.();
  }

  /** Node closes only the response whose turn it is; those behind it on the same connection would wait for ever. */
  function closePipelined(socket: Socket): void {
    for (const res of running) {
      if (res.req.socket === socket && res.socket === null) {
        res.destroy();
        res.emit("close");
      }
    }
  }

  async function listen({ host, port }: { host: string; port: number }): Promise<ListeningAddress> {
    const { address } = await lookup(host);
    server.listen({ host: address, port });
    await once(server, "listening");
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("The server is not bound to an IP address.");
    const authority = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
    const url = `http://${authority}:${bound.port}`;
    caller = createPostCaller(`ws://${authority}:${bound.port}`);
    if (!isLoopback(bound.address)) {
      logger.warn("The JSON-RPC server has no authentication and can be reached from other machines.", { url });
    }
    return { host: bound.address, port: bound.port, url };
  }

  async function shutDown(): Promise<void> {
    const closed = server.listening ? once(server, "close") : undefined;
    // Also closes the connections that are idle now.
    server.close();
    await webSockets.close();
    if (running.size > 0) {
      await new Promise<void>((resolve) => {
        nothingRuns = resolve;
      });
    }
    // What remains has no call running: half-sent requests, and connections whose streamed answer promised keep-alive.
    server.closeAllConnections();
    await closed;
  }

  return {
    listen,
    close: () => {
      closing ??= shutDown();
      return closing;
    },
  };
}

export function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

function answerOtherMethod(req: IncomingMessage, res: ServerResponse): void {
  if (req.method === "OPTIONS") {
    res.writeHead(204, { Allow: "OPTIONS, POST" }).end();
  } else {
    sendRefusal(res, 405, "JSON-RPC requests are sent with the HTTP method POST.", { Allow: "POST" });
  }
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const mediaType = contentType.split(";", 1)[0]!;
  return MEDIA_TYPES.includes(mediaType) || MEDIA_TYPES.includes(mediaType.trim().toLowerCase());
}

function refuseMediaType(res: ServerResponse): void {
  sendRefusal(res, 415, `The header Content-Type must be ${MEDIA_TYPES.join(" or ")}.`);
}
