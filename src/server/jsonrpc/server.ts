import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import { unsupported } from "../../errors/failure.ts";
import type { Logger } from "../../log/logger.ts";
import type { CallObserver, CallServer } from "../call-observer.ts";
import type { AccessLog } from "../http/access-log.ts";
import { type AccessOptions, AccessPolicy } from "../http/access-policy.ts";
import { HttpCore } from "../http/core.ts";
import type { Exchange } from "../http/exchanges.ts";
import { mediaTypeOf, requirePlainBody } from "../http/negotiation.ts";
import { PAGE_VERBS, type PageFiles, Pages } from "../http/pages.ts";
import { type BodyLimit, receiveBody } from "../http/receive.ts";
import { HttpRefusal, reportThrown } from "../http/refusal.ts";
import { sendRefusal } from "../http/send.ts";
import type { HttpServer } from "../http/server.ts";
import type { Client, MethodTable } from "../method-table.ts";
import { NULL_ID } from "./envelope.ts";
import { thrownError } from "./errors.ts";
import { createExecutor } from "./execute.ts";
import { DEFAULT_JSON_RPC_LIMITS, type JsonRpcLimits } from "./limits.ts";
import { errorResponse } from "./respond.ts";
import { sendResponse } from "./send.ts";
import { createWebSockets, isWebSocketUpgrade, type WebSocketLimits } from "./websocket/websockets.ts";

interface JsonRpcServerOptions {
  table: MethodTable;
  logger: Logger;
  access?: AccessOptions;
  limits?: Partial<JsonRpcLimits>;
  webSocketLimits?: Partial<WebSocketLimits>;
  observer?: CallObserver;
  accessLog?: AccessLog;
  /** What browsers are shown. */
  pages?: PageFiles;
}

/** Requiring one of these also keeps web pages from sending "simple" cross-site requests. */
const REQUEST_TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const VERBS = ["OPTIONS", "POST"];

const HOW_TO_SEND_MORE =
  "A larger one must be a call of a method that takes a list or an object, such as a block; in a batch, such a call comes first.";
/** The beginning of a call, or of a batch, with parameters and no name. */
const PARAMS_FIRST = /^\s*(?:\[\s*)?\{[\s\S]{0,1000}?"params"\s*:/;
const METHOD = /"method"\s*:\s*"(\w+)"/g;

export function createJsonRpcServer(options: JsonRpcServerOptions): HttpServer {
  const { table, logger, webSocketLimits, observer, accessLog } = options;
  const limits = { ...DEFAULT_JSON_RPC_LIMITS, ...options.limits };
  const executor = (server: CallServer) => createExecutor({ table, logger, ...limits, server, observer });
  const execute = executor("json-rpc");
  const pages = options.pages && new Pages(options.pages);
  const policy = new AccessPolicy("rpc", options.access, { hasPages: pages !== undefined });
  let webSocketUrl = "";
  const callers = createPostCallers(() => webSocketUrl, policy);

  const core = new HttpCore({
    policy,
    limits,
    logger,
    observer,
    accessLog,
    protocol: "json-rpc",
    // Some HTTP clients offer an upgrade to HTTP/2 with every request, which is ignored.
    http: { shouldUpgradeCallback: isWebSocketUpgrade },
    handle,
    refuse,
  });
  const { exchanges } = core;
  const webSockets = createWebSockets({
    execute: executor("websocket"),
    policy,
    logger,
    exchanges,
    record: core.recorder("websocket"),
    httpLimits: limits,
    limits: webSocketLimits,
  });
  const bodyLimit: BodyLimit = {
    bytes: limits.smallBodyBytes,
    raised: { bytes: limits.bodyBytes, isFor: namesLargeMethod, advice: HOW_TO_SEND_MORE },
  };
  core.server.on("upgrade", webSockets.accept);

  /** There is one resource, at every path. */
  function handle(exchange: Exchange): void {
    const { res } = exchange;
    const { req } = res;
    admit(req);
    if (pages?.has(req)) {
      req.resume();
      void show(pages, exchange);
    } else if (req.method === "OPTIONS") {
      policy.origins.setPreflightHeaders(req, res, "POST");
      req.resume();
      res.writeHead(204, { Allow: allowedAt(req) }).end();
      exchanges.finish(exchange);
    } else {
      receiveBody(
        req,
        exchange,
        bodyLimit,
        (body) => exchange.start(() => void serve(body, exchange)),
        (refusal) => refuse(exchange, refusal),
      );
    }
  }

  /** Throws for a request that is not to be read. */
  function admit(req: IncomingMessage): void {
    // A page holds nothing of the chain, and a browser cannot send a token when it asks for one.
    if (pages?.has(req)) {
      policy.admitReader(req);
      return;
    }
    policy.admit(req);
    if (req.method === "OPTIONS") return;
    if (req.method !== "POST") {
      throw new HttpRefusal(405, "JSON-RPC requests are sent with the HTTP method POST.", { Allow: allowedAt(req) });
    }
    if (!REQUEST_TYPES.includes(mediaTypeOf(req.headers["content-type"]))) {
      throw new HttpRefusal(415, `The header Content-Type must be ${REQUEST_TYPES.join(" or ")}.`);
    }
    requirePlainBody(req.headers["content-encoding"]);
  }

  /** A page is for who takes HTML: to others who ask for it, nothing can be said but how else to ask. */
  function allowedAt({ method = "", url }: IncomingMessage): string {
    return pages?.isAt(url) && !PAGE_VERBS.includes(method) ? [...PAGE_VERBS, ...VERBS].join(", ") : VERBS.join(", ");
  }

  async function show(files: Pages, exchange: Exchange): Promise<void> {
    try {
      await files.serve(exchange.res.req, exchange);
      exchanges.finish(exchange);
    } catch (error) {
      logger.error("A page could not be shown.", { url: exchange.res.req.url, error: inspect(error) });
      refuse(exchange, error);
    }
  }

  function refuse(exchange: Exchange, refusal: unknown): void {
    const { status, message, headers } = reportThrown(refusal);
    exchange.dropRest();
    const bytes = sendRefusal(exchange.res, status, message, headers);
    exchange.record?.sent(bytes);
    exchanges.finish(exchange);
  }

  /**
   * Whether the beginning of a message names a method that takes large parameters: its own, or one of its batch. Parameters may also
   * stand before the name, which is then beyond the beginning.
   */
  function namesLargeMethod(beginning: Buffer): boolean {
    const text = beginning.toString("latin1");
    // One that names more is refused in any case.
    let left = limits.batchLength;
    for (const [, name] of text.matchAll(METHOD)) {
      if (table.find(name!)?.takesLargeBody) return true;
      if (--left === 0) return false;
    }
    return left === limits.batchLength && PARAMS_FIRST.test(text);
  }

  async function serve(body: Buffer, exchange: Exchange): Promise<void> {
    const { res } = exchange;
    if (exchange.isOver) return;
    exchange.work();
    try {
      const caller = policy.isPrivileged(res.req) ? callers.privileged : callers.other;
      const response = await execute(body, exchange.deadline, caller, exchange.record);
      if (core.isClosing) res.shouldKeepAlive = false;
      await sendResponse(exchange, response);
    } catch (error) {
      logger.error("A JSON-RPC request could not be answered as it should.", { error: inspect(error) });
      if (!res.destroyed && !res.headersSent) {
        await sendResponse(exchange, { body: [errorResponse(NULL_ID, thrownError(error))] });
      }
    }
    exchanges.finish(exchange);
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

/** Nothing is known of who calls by POST but whether it is privileged. */
interface PostCallers {
  privileged: Client;
  other: Client;
}

/** Who calls by POST hears nothing but answers; for more there is WebSocket. */
function createPostCallers(webSocketUrl: () => string, policy: AccessPolicy): PostCallers {
  const refuse = () => {
    throw unsupported(`Events are sent over WebSocket only: connect to ${webSocketUrl()} and call the method there.`);
  };
  const callerOf = (isPrivileged: boolean): Client => ({
    subscribe: refuse,
    unsubscribe: refuse,
    refusal: (access) => policy.refusal(access, isPrivileged),
  });
  return { privileged: callerOf(true), other: callerOf(false) };
}
