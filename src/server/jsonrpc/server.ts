import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import { unsupported } from "../../errors/failure.ts";
import type { Logger } from "../../log/logger.ts";
import type { CallObserver, CallServer } from "../call-observer.ts";
import { type AccessOptions, AccessPolicy } from "../http/access/access-policy.ts";
import type { ApiClient, ApiClients } from "../http/access/api-clients.ts";
import type { AccessLog } from "../http/access-log.ts";
import { HttpCore } from "../http/core.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError, toErrorResponse } from "../http/http-error.ts";
import { type BodyLimit, readBody } from "../http/request/read-body.ts";
import { mediaTypeOf, requirePlainBody } from "../http/response/negotiation.ts";
import { sendError } from "../http/response/send.ts";
import { STATIC_FILE_METHODS, type StaticFilePaths, StaticFiles } from "../http/response/static-files.ts";
import type { Endpoints, HttpServer } from "../http/server.ts";
import type { Client, MethodTable } from "../method-table.ts";
import { NULL_ID } from "./envelope.ts";
import { toErrorObject } from "./errors.ts";
import { createExecutor } from "./execute.ts";
import { DEFAULT_JSON_RPC_LIMITS, type JsonRpcLimits } from "./limits.ts";
import { errorResponse } from "./respond.ts";
import { sendResponse } from "./send.ts";
import { createWebSockets, isWebSocketUpgrade, type WebSocketLimits } from "./websocket/websockets.ts";

interface JsonRpcServerOptions {
  table: MethodTable;
  logger: Logger;
  access?: AccessOptions;
  /** Clients with API keys. If any are configured, requests need a key. */
  clients?: ApiClients;
  limits?: Partial<JsonRpcLimits>;
  webSocketLimits?: Partial<WebSocketLimits>;
  observer?: CallObserver;
  accessLog?: AccessLog;
  /** Static files for browsers. */
  pages?: StaticFilePaths;
  /** URLs of all servers, used in errors for requests sent to the wrong server. Read when such an error is created. */
  endpoints?: Endpoints;
}

/** Accepted media types. Browsers send a CORS preflight request for all of them. */
const CONTENT_TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const VERBS = ["OPTIONS", "POST"];

const SIZE_ADVICE =
  "Only methods with large parameters, such as a block, accept more; put such a call first in a batch.";
const BODY_ADVICE = "Split it, or raise --max-body-bytes.";
/** Matches a call or a batch in which `params` comes before `method`. */
const PARAMS_FIRST = /^\s*(?:\[\s*)?\{[\s\S]{0,1000}?"params"\s*:/;
const METHOD = /"method"\s*:\s*"(\w+)"/g;

/** Creates the JSON-RPC server, which supports HTTP POST and WebSocket. */
export function createJsonRpcServer(options: JsonRpcServerOptions): HttpServer {
  const { table, logger, webSocketLimits, observer, accessLog, endpoints } = options;
  const limits = { ...DEFAULT_JSON_RPC_LIMITS, ...options.limits };
  const executor = (server: CallServer) => createExecutor({ table, logger, ...limits, server, observer });
  const execute = executor("json-rpc");
  const pages = options.pages && new StaticFiles(options.pages);
  const policy = new AccessPolicy("rpc", options.access, {
    hasPages: pages !== undefined,
    clients: options.clients,
  });
  let webSocketUrl = "";

  const core = new HttpCore({
    policy,
    limits,
    logger,
    observer,
    accessLog,
    protocol: "json-rpc",
    // Ignores upgrades to HTTP/2, which some clients offer in every request.
    http: { shouldUpgradeCallback: isWebSocketUpgrade },
    handle,
    respondWithError,
  });
  const { connections } = core;
  const webSockets = createWebSockets({
    execute: executor("websocket"),
    policy,
    logger,
    connectionManager: connections,
    record: core.recordFactory("websocket"),
    httpLimits: limits,
    limits: webSocketLimits,
  });
  const bodyLimit: BodyLimit = {
    bytes: limits.smallBodyBytes,
    advice: BODY_ADVICE,
    raised: { bytes: limits.bodyBytes, isFor: isLargeCall, advice: SIZE_ADVICE },
  };
  core.server.on("upgrade", webSockets.accept);

  /** Handles a request for any path. */
  function handle(exchange: Exchange): void {
    const { res } = exchange;
    const { req } = res;
    const client = validateRequest(req);
    if (client) exchange.record?.setKey(client.name);
    if (pages?.matches(req)) {
      req.resume();
      void serveFile(pages, exchange);
    } else if (req.method === "OPTIONS") {
      policy.origins.setPreflightHeaders(req, res, "POST");
      req.resume();
      res.writeHead(204, { Allow: allowHeader(req) }).end();
      connections.finish(exchange);
    } else {
      readBody(
        req,
        exchange,
        bodyLimit,
        (body) => exchange.start(() => void serve(body, exchange, client)),
        (error) => respondWithError(exchange, error),
      );
    }
  }

  /**
   * Validates a request before its body is read. Returns the client that owns the request's key. Throws an `HttpError`.
   */
  function validateRequest(req: IncomingMessage): ApiClient | undefined {
    // Pages are public, because a browser cannot send the token when loading a page.
    if (pages?.matches(req)) {
      policy.checkHostAndOrigin(req);
      return undefined;
    }
    const client = policy.authorize(req);
    if (req.method === "OPTIONS") return undefined;
    if (req.method !== "POST") {
      const hint = endpoints?.rest === undefined ? "" : ` The REST API is at ${endpoints.rest}.`;
      throw new HttpError(405, `JSON-RPC requests must use the HTTP method POST.${hint}`, { Allow: allowHeader(req) });
    }
    if (!CONTENT_TYPES.includes(mediaTypeOf(req.headers["content-type"]))) {
      throw new HttpError(415, `The Content-Type header must be ${CONTENT_TYPES.join(" or ")}.`);
    }
    requirePlainBody(req.headers["content-encoding"]);
    return client;
  }

  /**
   * Returns the Allow header. It lists GET and HEAD if there is a page at the path, unless the request used one of
   * these methods without accepting HTML.
   */
  function allowHeader({ method = "", url }: IncomingMessage): string {
    return pages?.hasPath(url) && !STATIC_FILE_METHODS.includes(method)
      ? [...STATIC_FILE_METHODS, ...VERBS].join(", ")
      : VERBS.join(", ");
  }

  async function serveFile(files: StaticFiles, exchange: Exchange): Promise<void> {
    try {
      await files.serve(exchange.res.req, exchange);
      connections.finish(exchange);
    } catch (error) {
      logger.error("Failed to serve static file", {
        url: policy.loggedUrl(exchange.res.req.url ?? ""),
        error: inspect(error),
      });
      respondWithError(exchange, error);
    }
  }

  function respondWithError(exchange: Exchange, reason: unknown): void {
    const { status, message, headers } = toErrorResponse(reason);
    exchange.discardBody();
    const bytes = sendError(exchange.res, status, message, headers);
    exchange.record?.addBytes(bytes);
    connections.finish(exchange);
  }

  /**
   * Returns true if the beginning of a message, whether a single call or a batch, names a method with large parameters.
   * Also returns true if the parameters precede the method name, which may come too late to be seen.
   */
  function isLargeCall(beginning: Buffer): boolean {
    const text = beginning.toString("latin1");
    // A longer batch is going to be rejected.
    let remaining = limits.batchLength;
    for (const [, name] of text.matchAll(METHOD)) {
      if (table.find(name!)?.takesLargeBody) return true;
      if (--remaining === 0) return false;
    }
    return remaining === limits.batchLength && PARAMS_FIRST.test(text);
  }

  /** Returns a caller that cannot subscribe, because subscriptions need a WebSocket. */
  function callerOf(req: IncomingMessage, client: ApiClient | undefined): Client {
    return { subscribe: refuseSubscription, unsubscribe: refuseSubscription, ...policy.rightsOf(req, client) };
  }

  function refuseSubscription(): never {
    throw unsupported(`Subscriptions require a WebSocket: connect to ${webSocketUrl} and call the method there.`);
  }

  async function serve(body: Buffer, exchange: Exchange, client: ApiClient | undefined): Promise<void> {
    const { res } = exchange;
    if (exchange.isClosed) return;
    exchange.beginProcessing();
    try {
      const executed = execute(body, exchange.deadline, callerOf(res.req, client), exchange.record);
      // Awaiting a response that is available already would cost more than sending it.
      const response = executed instanceof Promise ? await executed : executed;
      if (core.isClosing) res.shouldKeepAlive = false;
      const sent = sendResponse(exchange, response);
      if (sent) await sent;
    } catch (error) {
      logger.error("JSON-RPC request failed unexpectedly", { error: inspect(error) });
      if (!res.destroyed && !res.headersSent) {
        await sendResponse(exchange, { body: [errorResponse(NULL_ID, toErrorObject(error))] });
      }
    }
    connections.finish(exchange);
  }

  return {
    async listen(where) {
      const listening = await core.listen(where);
      webSocketUrl = listening.url.replace("http", "ws");
      return listening;
    },
    load: () => core.load,
    close: () => core.close(webSockets.close),
  };
}
