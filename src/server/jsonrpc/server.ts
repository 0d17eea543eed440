import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import fastify, { type FastifyError } from "fastify";
import type { Logger } from "../../log/logger.ts";
import type { MethodTable } from "../method-table.ts";
import { NULL_ID } from "./envelope.ts";
import { thrownError } from "./errors.ts";
import { createExecutor } from "./execute.ts";
import { errorResponse } from "./respond.ts";
import { sendRefusal, sendResponse } from "./send.ts";

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

/** Requiring one of these also keeps web pages from sending "simple" cross-site requests. */
const MEDIA_TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const EMPTY_BODY = Buffer.alloc(0);

export function createJsonRpcServer({ table, logger, limits: given }: JsonRpcServerOptions): JsonRpcServer {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const execute = createExecutor({ table, logger, ...limits });
  const running = new Set<ServerResponse>();
  let closing: Promise<void> | undefined;
  let nothingRuns: (() => void) | undefined;

  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: RECEIVE_MILLIS,
    // There is one resource; whatever path a client was configured with leads to it.
    rewriteUrl: () => "/",
  });
  app.server.on("connection", (socket) => {
    socket.once("close", () => closePipelined(socket));
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(MEDIA_TYPES, { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post("/", (request, reply) => {
    reply.hijack();
    if (request.headers["content-type"] === undefined) {
      refuseMediaType(reply.raw);
    } else {
      void serve((request.body as Buffer | undefined) ?? EMPTY_BODY, reply.raw);
    }
  });
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    answerOtherMethod(request.raw, reply.raw);
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    reply.hijack();
    // What is left of a refused body is read and dropped: closing at once would reset the connection, and the client,
    // still sending, would never see the answer.
    request.raw.resume();
    if (request.method !== "POST") answerOtherMethod(request.raw, reply.raw);
    else if (error.statusCode === 415) refuseMediaType(reply.raw);
    else if (error.statusCode === 413) {
      sendRefusal(reply.raw, 413, `The request body is larger than ${limits.bodyBytes} bytes.`);
    } else {
      sendRefusal(reply.raw, error.statusCode ?? 400, "The request could not be received.");
    }
  });

  async function serve(body: Buffer, res: ServerResponse): Promise<void> {
    running.add(res);
    try {
      const response = await execute(body);
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
    // Resolved here, because fastify opens a second server of its own for the name localhost.
    const { address } = await lookup(host);
    await app.listen({ host: address, port });
    const bound = app.server.address();
    if (bound === null || typeof bound === "string") throw new Error("The server is not bound to an IP address.");
    const authority = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
    const url = `http://${authority}:${bound.port}`;
    if (!isLoopback(bound.address)) {
      logger.warn("The JSON-RPC server has no authentication and can be reached from other machines.", { url });
    }
    return { host: bound.address, port: bound.port, url };
  }

  async function shutDown(): Promise<void> {
    const { server } = app;
    const closed = server.listening ? once(server, "close") : undefined;
    // Also closes the connections that are idle now.
    server.close();
    if (running.size > 0) {
      await new Promise<void>((resolve) => {
        nothingRuns = resolve;
      });
    }
    // What remains has no call running: half-sent requests, and connections whose streamed answer promised keep-alive.
    server.closeAllConnections();
    await closed;
    await app.close();
  }

  return {
    listen,
    close: () => {
      closing ??= shutDown();
      return closing;
    },
  };
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

function answerOtherMethod(req: IncomingMessage, res: ServerResponse): void {
  if (req.method === "OPTIONS") {
    res.writeHead(204, { Allow: "OPTIONS, POST" }).end();
  } else {
    sendRefusal(res, 405, "JSON-RPC requests are sent with the HTTP method POST.", { Allow: "POST" });
  }
}

function refuseMediaType(res: ServerResponse): void {
  sendRefusal(res, 415, `The header Content-Type must be ${MEDIA_TYPES.join(" or ")}.`);
}
