import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import { unsupported } from "../../failure.ts";
import type { Logger } from "../../log/logger.ts";
import { type AccessOptions, AccessPolicy } from "../http/access-policy.ts";
import { mediaTypeOf } from "../http/negotiation.ts";
import { reportThrown } from "../http/refusal.ts";
import {
  CONNECTION_TIMEOUTS,
  closeGracefully,
  DEFAULT_HTTP_LIMITS,
  type HttpLimits,
  type HttpServer,
  type ListeningAddress,
  listeningAddress,
  OpenResponses,
} from "../http/server.ts";
import type { Caller, MethodTable } from "../method-table.ts";
import { NULL_ID } from "./envelope.ts";
import { thrownError } from "./errors.ts";
import { createExecutor } from "./execute.ts";
import { receiveBody } from "./receive.ts";
import { errorResponse } from "./respond.ts";
import { sendRefusal, sendResponse } from "./send.ts";
import { createWebSockets, isWebSocketUpgrade, type WebSocketLimits } from "./websocket/websockets.ts";

export interface JsonRpcLimits extends HttpLimits {
  /** The longest batch. */
  batchLength: number;
}

interface JsonRpcServerOptions {
  table: MethodTable;
  logger: Logger;
  access?: AccessOptions;
  limits?: Partial<JsonRpcLimits>;
  webSocketLimits?: Partial<WebSocketLimits>;
}

const DEFAULT_LIMITS: JsonRpcLimits = { ...DEFAULT_HTTP_LIMITS, batchLength: 1000 };

/** Requiring one of these also keeps web pages from sending "simple" cross-site requests. */
const REQUEST_TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

export function createJsonRpcServer(options: JsonRpcServerOptions): HttpServer {
  const { table, logger, webSocketLimits } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const execute = createExecutor({ table, logger, ...limits });
  const policy = new AccessPolicy("rpc", options.access);
  const webSockets = createWebSockets({
    execute,
    policy,
    logger,
    messageBytes: limits.bodyBytes,
    limits: webSocketLimits,
  });
  const running = new OpenResponses();
  let closing: Promise<void> | undefined;
  let webSocketUrl = "";
  const callers = createPostCallers(() => webSocketUrl, policy);

  // There is one resource; whatever path a client was configured with leads to it.
  const http = {
    ...CONNECTION_TIMEOUTS,
    // Some HTTP clients offer an upgrade to HTTP/2 with every request, which is theirs to do and ours to ignore.
    shouldUpgradeCallback: isWebSocketUpgrade,
  };
  const server = createServer(http, (req, res) => {
    policy.origins.setHeaders(req, res);
    try {
      policy.admit(req);
    } catch (refusal) {
      const { status, message, headers } = reportThrown(refusal);
      req.resume();
      sendRefusal(res, status, message, headers);
      return;
    }
    if (req.method === "OPTIONS") {
      policy.origins.setPreflightHeaders(req, res, "POST");
      req.resume();
      res.writeHead(204, { Allow: "OPTIONS, POST" }).end();
    } else if (req.method !== "POST") {
      req.resume();
      sendRefusal(res, 405, "JSON-RPC requests are sent with the HTTP method POST.", { Allow: "POST" });
    } else if (!REQUEST_TYPES.includes(mediaTypeOf(req.headers["content-type"]))) {
      req.resume();
      sendRefusal(res, 415, `The header Content-Type must be ${REQUEST_TYPES.join(" or ")}.`);
    } else {
      receiveBody(
        req,
        limits.bodyBytes,
        (body) => void serve(body, req, res),
        () => sendRefusal(res, 413, `The request body is larger than ${limits.bodyBytes} bytes.`),
      );
    }
  });
  server.on("upgrade", webSockets.accept);
  server.on("connection", (socket) => {
    socket.once("close", () => closePipelined(socket));
  });

  async function serve(body: Buffer, req: IncomingMessage, res: ServerResponse): Promise<void> {
    running.add(res);
    try {
      const caller = policy.isPrivileged(req) ? callers.privileged : callers.other;
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
    const where = listeningAddress(server);
    policy.listensOn({ name: host, address: where.host, url: where.url }, logger);
    webSocketUrl = where.url.replace("http", "ws");
    return where;
  }

  return {
    listen,
    close: () => {
      closing ??= closeGracefully(server, running, webSockets.close);
      return closing;
    },
  };
}

/** Nothing is known of who calls by POST but whether it is privileged. */
interface PostCallers {
  privileged: Caller;
  other: Caller;
}

/** Who calls by POST hears nothing but answers; for more there is WebSocket. */
function createPostCallers(webSocketUrl: () => string, policy: AccessPolicy): PostCallers {
  const refuse = () => {
    throw unsupported(`Events are sent over WebSocket only: connect to ${webSocketUrl()} and call the method there.`);
  };
  const callerOf = (isPrivileged: boolean): Caller => ({
    subscribe: refuse,
    unsubscribe: refuse,
    refusal: (access) => policy.refusal(access, isPrivileged),
  });
  return { privileged: callerOf(true), other: callerOf(false) };
}
