import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import { Failure } from "../../errors/failure.ts";
import { truncate } from "../../errors/truncate.ts";
import type { Logger } from "../../log/logger.ts";
import type { AccessClass } from "../access-class.ts";
import type { CallObserver, ObservedCall } from "../call-observer.ts";
import { createEventStreams, type EventStreamLimits } from "../events/sse.ts";
import { type AccessOptions, AccessPolicy } from "../http/access/access-policy.ts";
import type { ApiClient, ApiClients } from "../http/access/api-clients.ts";
import type { AccessLog } from "../http/access-log.ts";
import { HttpCore } from "../http/core.ts";
import type { Exchange } from "../http/exchange.ts";
import { errorBody, HttpError, toErrorResponse } from "../http/http-error.ts";
import { type BodyLimit, readBody } from "../http/request/read-body.ts";
import { chooseFormat, requirePlainBody } from "../http/response/negotiation.ts";
import { DEFAULT_HTTP_LIMITS, type Endpoints, type HttpLimits, type HttpServer } from "../http/server.ts";
import type { RestResponse, RestRoute, RouteTable } from "./route-table.ts";
import { type PathEntry, Router } from "./router.ts";
import { closeResponse, type OpenResponse, openResponse, sendResponse } from "./send.ts";

export interface RestServerOptions {
  table: RouteTable;
  logger: Logger;
  access?: AccessOptions;
  /** Clients with API keys. If any are configured, requests need a key. */
  clients?: ApiClients;
  limits?: Partial<HttpLimits>;
  eventLimits?: Partial<EventStreamLimits>;
  observer?: CallObserver;
  accessLog?: AccessLog;
  /** URLs of all servers, used in errors for requests sent to the wrong server. Read when such an error is created. */
  endpoints?: Endpoints;
}

/** Enough for a query with a hundred public keys. */
const MAX_URL_LENGTH = 16 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Node's header size limit. Node buffers the headers of every request. The limit is smaller than one read from a
 * socket, so that the packet that exceeds it usually contains the URL.
 */
const NODE_MAX_HEADER_BYTES = 63 * 1024;

/** Creates the REST API server. */
export function createRestServer(options: RestServerOptions): HttpServer {
  const { table, logger, observer, accessLog, endpoints } = options;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const policy = new AccessPolicy("rest", options.access, { clients: options.clients });
  const router = new Router(table, MAX_URL_LENGTH);
  const core = new HttpCore({
    policy,
    limits,
    logger,
    observer,
    accessLog,
    protocol: "rest",
    http: { maxHeaderSize: NODE_MAX_HEADER_BYTES },
    handle,
    respondWithError,
  });
  const { connections } = core;
  const eventStreams = createEventStreams(connections.responseBytes, options.eventLimits);
  policy.onAccessChange(() => {
    const closed = eventStreams.closeRevoked();
    if (closed > 0) logger.info("Closed event streams without access", { streams: closed });
  });

  function handle(exchange: Exchange): void {
    const { req } = exchange.res;
    enforceSizeLimits(req);
    const { path, route, params } = router.find(req.method!, req.url!);
    let client: ApiClient | undefined;
    if (route?.isProbe) policy.checkHostAndOrigin(req);
    else client = policy.authorize(req);
    if (client) exchange.record?.setKey(client.name);
    if (path && req.method === "OPTIONS") {
      policy.origins.setPreflightHeaders(req, exchange.res, path.verbs.join(", "));
      answer(exchange, () => ({ status: 204, headers: { Allow: path.allow } }));
      return;
    }
    if (!route) {
      respondWithError(exchange, path ? unsupportedVerb(path, req) : unknownPath(req));
      return;
    }
    // The caller's rights are checked before the body is read.
    const denialReason = policy.rightsOf(req, client).denialReason({ name: route.method, access: route.access });
    if (denialReason !== undefined) {
      respondWithError(exchange, new HttpError(403, denialReason), route);
      return;
    }
    const call = (body?: Buffer) => callRoute(route, exchange, params, body);
    const run = (body?: Buffer) =>
      answer(
        exchange,
        client ? () => charge(client, route).then(() => call(body)) : () => call(body),
        observe(exchange, route),
        route.access,
      );
    if (route.verb === "GET") run();
    else readBody(req, exchange, limitOf(route), run, (reason) => respondWithError(exchange, reason, route));
  }

  function unknownPath(req: IncomingMessage): HttpError {
    const path = pathOf(req);
    const similar = router.suggest(path);
    const hint = jsonRpcHint(req) || (similar === undefined ? "" : ` Did you mean ${similar}?`);
    return new HttpError(404, `Unknown path ${truncate(path, 100)}.${hint}`, {}, "unsupported");
  }

  function unsupportedVerb({ path, verbs, allow }: PathEntry, req: IncomingMessage): HttpError {
    const message = `${path} requires the HTTP method ${verbs.join(" or ")}.${jsonRpcHint(req)}`;
    return new HttpError(405, message, { Allow: allow });
  }

  /** Returns a hint containing the JSON-RPC URL if the request was probably meant as a JSON-RPC call. */
  function jsonRpcHint(req: IncomingMessage): string {
    const url = endpoints?.["json-rpc"];
    return url !== undefined && req.method === "POST" && pathOf(req) === "/" ? ` JSON-RPC is at ${url}.` : "";
  }

  function limitOf({ takesLargeBody }: RestRoute): BodyLimit {
    if (!takesLargeBody) return { bytes: limits.smallBodyBytes };
    return { bytes: limits.bodyBytes, advice: "Split it, or raise --max-body-bytes." };
  }

  function respondWithError(exchange: Exchange, reason: unknown, route?: RestRoute): void {
    answer(exchange, () => Promise.reject(reason), observe(exchange, route));
  }

  /** Starts observing a call of the route's method. If there is no route, the method counts as unknown. */
  function observe({ record }: Exchange, route: RestRoute | undefined): ObservedCall | undefined {
    return (record ?? observer)?.begin("rest", route?.method);
  }

  /** Throws an `HttpError` if the call exceeds the client's budget. */
  async function charge(client: ApiClient, { method: name, access }: RestRoute): Promise<void> {
    const rejection = await client.charge({ name, access });
    if (rejection === undefined) return;
    throw new HttpError(429, rejection.message, { "Retry-After": String(rejection.retryAfterSeconds) });
  }

  function callRoute(
    route: RestRoute,
    { res: { req }, deadline }: Exchange,
    params: Record<string, string>,
    body: Buffer | undefined,
  ): RestResponse | Promise<RestResponse> {
    const { headers, url = "" } = req;
    if (route.verb === "POST") requirePlainBody(headers["content-encoding"]);
    const check = (response: RestResponse): RestResponse => {
      if (response.feed && !eventStreams.hasRoom) {
        throw new HttpError(503, "The limit of event streams is reached. Retry later.");
      }
      return route.isProbe && !policy.isAuthenticated(req) ? { status: response.status } : response;
    };
    const response = route.handle({
      params,
      url,
      // Node joins repeated headers, with the exception of one header that no route reads.
      headers: headers as Record<string, string | undefined>,
      body: body?.length ? body : undefined,
      cancellation: deadline,
      format: route.responseFormats.length === 0 ? undefined : chooseFormat(headers.accept, route),
    });
    return response instanceof Promise ? response.then(check) : check(response);
  }

  /** Runs `work` after earlier requests on the connection, and sends the response. */
  function answer(
    exchange: Exchange,
    work: () => RestResponse | Promise<RestResponse>,
    observedCall?: ObservedCall,
    access?: AccessClass,
  ): void {
    exchange.start(() => void respondNow(exchange, work, observedCall, access));
  }

  /** Sends the response returned by `work`. Never rejects. */
  async function respondNow(
    exchange: Exchange,
    work: () => RestResponse | Promise<RestResponse>,
    observedCall: ObservedCall | undefined,
    access: AccessClass | undefined,
  ): Promise<void> {
    if (exchange.isClosed) {
      observedCall?.end(undefined);
      return;
    }
    const { res } = exchange;
    const { req } = res;
    exchange.beginProcessing();
    let open: OpenResponse;
    try {
      const answer = work();
      const opened =
        answer instanceof Promise
          ? answer.then((each) => openResponse(each, exchange, observedCall))
          : openResponse(answer, exchange, observedCall);
      // Awaiting a response that is available already would cost more than sending it.
      open = opened instanceof Promise ? await exchange.deadline.race(opened, closeResponse, access) : opened;
    } catch (error) {
      logError(req, error);
      exchange.discardBody();
      open = await openResponse(errorResponse(error), exchange, observedCall);
    }
    exchange.beginResponse();
    exchange.record?.setResponseHeaders(open.answer.headers);
    const { status, feed } = open.answer;
    observedCall?.end(status >= 400 ? status : undefined);
    if (core.isClosing) res.shouldKeepAlive = false;
    try {
      if (feed && req.method !== "HEAD" && !res.destroyed) {
        eventStreams.serve(feed, res, { sent: observedCall?.bytes, revocationReason: policy.revocationOf(req) });
      } else {
        const sent = sendResponse(req, res, open, policy.needsToken);
        if (sent) await sent;
      }
    } catch (error) {
      logger.error("Failed to send REST response", { url: policy.loggedUrl(req.url ?? ""), error: inspect(error) });
      res.destroy();
    }
    connections.finish(exchange);
  }

  function logError({ method, url = "" }: IncomingMessage, error: unknown): void {
    const loggedUrl = policy.loggedUrl(url);
    if (error instanceof Failure || error instanceof HttpError) {
      // The message may contain the URL.
      const message = url === loggedUrl ? error.message : undefined;
      logger.debug("Request failed", { method, url: loggedUrl, message });
    } else {
      logger.error("REST request failed unexpectedly", { method, url: loggedUrl, error: inspect(error) });
    }
  }

  return {
    listen: (where) => core.listen(where),
    load: () => core.load,
    close: () => core.close(eventStreams.close),
  };
}

function errorResponse(thrown: unknown): RestResponse {
  const { status, message, headers, ...details } = toErrorResponse(thrown);
  return { status, headers, content: { format: "json", parts: [errorBody(status, message, details)] } };
}

/** Enforces the size limits on the URL and the headers. */
function enforceSizeLimits({ url = "", rawHeaders }: IncomingMessage): void {
  if (url.length > MAX_URL_LENGTH) {
    const advice = "Use the POST variant of the route, if there is one.";
    throw new HttpError(414, `The URL is longer than ${MAX_URL_LENGTH} characters. ${advice}`);
  }
  const headerBytes = rawHeaders.reduce((sum, { length }) => sum + length, 0);
  if (headerBytes > MAX_HEADER_BYTES) {
    throw new HttpError(431, `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  }
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0]!;
}
