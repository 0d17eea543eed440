import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import { Failure } from "../../errors/failure.ts";
import type { Logger } from "../../log/logger.ts";
import type { CallObserver, ObservedCall } from "../call-observer.ts";
import { createEventStreams, type EventStreamLimits } from "../events/sse.ts";
import type { AccessLog } from "../http/access-log.ts";
import { type AccessOptions, AccessPolicy } from "../http/access-policy.ts";
import { HttpCore } from "../http/core.ts";
import type { Exchange } from "../http/exchanges.ts";
import { chooseFormat, requirePlainBody } from "../http/negotiation.ts";
import { type BodyLimit, receiveBody } from "../http/receive.ts";
import { errorBody, HttpRefusal, reportThrown } from "../http/refusal.ts";
import { DEFAULT_HTTP_LIMITS, type HttpLimits, type HttpServer } from "../http/server.ts";
import { RequestToRoute } from "./request.ts";
import { RouteFinder, type ServedPath } from "./route-finder.ts";
import type { RestAnswer, RestRoute, RouteTable } from "./route-table.ts";
import { abandonAnswer, type OpenAnswer, openAnswer, sendAnswer } from "./send.ts";

export interface RestServerOptions {
  table: RouteTable;
  logger: Logger;
  access?: AccessOptions;
  limits?: Partial<HttpLimits>;
  eventLimits?: Partial<EventStreamLimits>;
  observer?: CallObserver;
  accessLog?: AccessLog;
}

/** Room for a hundred public keys in a query. */
const LONGEST_URL = 16 * 1024;
const LARGEST_HEADERS = 16 * 1024;
/**
 * What Node itself refuses. It holds what has come of every head. Less than what is read at once, so that the packet in which a head
 * becomes too large mostly shows its URL.
 */
const LARGEST_HEAD = 63 * 1024;

export function createRestServer(options: RestServerOptions): HttpServer {
  const { table, logger, observer, accessLog } = options;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const policy = new AccessPolicy("rest", options.access);
  const router = new RouteFinder(table, LONGEST_URL);
  const core = new HttpCore({
    policy,
    limits,
    logger,
    observer,
    accessLog,
    protocol: "rest",
    http: { maxHeaderSize: LARGEST_HEAD },
    handle,
    refuse,
  });
  const { exchanges } = core;
  const eventStreams = createEventStreams(exchanges.answerBytes, options.eventLimits);

  function handle(exchange: Exchange): void {
    const { req } = exchange.res;
    requireSizes(req);
    const { path, route, params } = router.find(req.method!, req.url!);
    if (route?.isProbe) policy.admitReader(req);
    else policy.admit(req);
    if (path && req.method === "OPTIONS") {
      policy.origins.setPreflightHeaders(req, exchange.res, path.verbs.join(", "));
      answer(exchange, async () => ({ status: 204, headers: { Allow: path.allow } }));
      return;
    }
    if (!route) {
      refuse(exchange, path ? wrongVerb(path) : nothingAt(pathOf(req)));
      return;
    }
    // Refused before the body is read.
    const refusal = policy.refusal(route.access, policy.isPrivileged(req));
    if (refusal !== undefined) {
      refuse(exchange, new HttpRefusal(403, refusal), route);
      return;
    }
    const run = (body?: Buffer) =>
      answer(exchange, () => callRoute(route, exchange, params, body), observe(exchange, route));
    if (route.verb === "GET") run();
    else receiveBody(req, exchange, limitOf(route), run, (reason) => refuse(exchange, reason, route));
  }

  function limitOf({ takesLargeBody }: RestRoute): BodyLimit {
    return { bytes: takesLargeBody ? limits.bodyBytes : limits.smallBodyBytes };
  }

  function refuse(exchange: Exchange, reason: unknown, route?: RestRoute): void {
    answer(exchange, () => Promise.reject(reason), observe(exchange, route));
  }

  /** Begins the call of the route's method, or of none that exists. */
  function observe({ record }: Exchange, route: RestRoute | undefined): ObservedCall | undefined {
    return (record ?? observer)?.begin("rest", route?.method);
  }

  async function callRoute(
    route: RestRoute,
    { res: { req }, deadline }: Exchange,
    params: Record<string, string>,
    body: Buffer | undefined,
  ): Promise<RestAnswer> {
    const { headers, url = "" } = req;
    if (route.verb === "POST") requirePlainBody(headers["content-encoding"]);
    const answer = await route.handle(
      new RequestToRoute(route, {
        params,
        url,
        // Node joins repeated headers, but for one that no route reads.
        headers: headers as Record<string, string | undefined>,
        body: body?.length ? body : undefined,
        waiting: deadline,
        format: route.answers.length === 0 ? undefined : chooseFormat(headers.accept, route),
      }),
    );
    if (answer.feed && !eventStreams.hasRoom) {
      throw new HttpRefusal(503, "As many callers as the node can serve are reading events now.");
    }
    return route.isProbe && !policy.hasToken(req) ? { status: answer.status } : answer;
  }

  /** Answers with what the work gives, when it is the request's turn. */
  function answer(exchange: Exchange, work: () => Promise<RestAnswer>, observed?: ObservedCall): void {
    exchange.start(() => void answerNow(exchange, work, observed));
  }

  /** Never rejects. */
  async function answerNow(
    exchange: Exchange,
    work: () => Promise<RestAnswer>,
    observed: ObservedCall | undefined,
  ): Promise<void> {
    if (exchange.isOver) {
      observed?.end(undefined);
      return;
    }
    const { res } = exchange;
    const { req } = res;
    exchange.work();
    let open: OpenAnswer;
    try {
      const opened = work().then((given) => openAnswer(given, exchange, observed));
      open = await exchange.deadline.race(opened, abandonAnswer);
    } catch (error) {
      report(req, error);
      exchange.dropRest();
      open = await openAnswer(refusalAnswer(error), exchange, observed);
    }
    exchange.answer();
    exchange.record?.answeredWith(open.answer.headers);
    const { status, feed } = open.answer;
    observed?.end(status >= 400 ? status : undefined);
    if (core.isClosing) res.shouldKeepAlive = false;
    try {
      if (feed && req.method !== "HEAD" && !res.destroyed) eventStreams.serve(feed, res, observed?.bytes);
      else await sendAnswer(req, res, open, policy.needsToken);
    } catch (error) {
      logger.error("A REST request could not be answered as it should.", { url: req.url, error: inspect(error) });
      res.destroy();
    }
    exchanges.finish(exchange);
  }

  function report({ method, url }: IncomingMessage, error: unknown): void {
    if (error instanceof Failure || error instanceof HttpRefusal) {
      logger.debug("A request failed.", { method, url, message: error.message });
    } else {
      logger.error("A request failed unexpectedly.", { method, url, error: inspect(error) });
    }
  }

  return {
    listen: (where) => core.listen(where),
    load: () => core.load,
    close: () => core.close(eventStreams.close),
  };
}

const nothingAt = (path: string) => new HttpRefusal(404, `There is nothing at ${shortened(path)}.`);

const wrongVerb = ({ path, verbs, allow }: ServedPath) =>
  new HttpRefusal(405, `${path} is asked with ${verbs.join(" or ")}.`, { Allow: allow });

function refusalAnswer(thrown: unknown): RestAnswer {
  const { status, message, failures, headers } = reportThrown(thrown);
  return { status, headers, content: { format: "json", parts: [errorBody(status, message, failures)] } };
}

/** Refuses what is larger than any request has to be. */
function requireSizes({ url = "", rawHeaders }: IncomingMessage): void {
  if (url.length > LONGEST_URL) {
    const advice = "what is too long for a query goes into the body of a POST request, where there is one.";
    throw new HttpRefusal(414, `The URL is longer than ${LONGEST_URL} characters: ${advice}`);
  }
  const headerBytes = rawHeaders.reduce((sum, { length }) => sum + length, 0);
  if (headerBytes > LARGEST_HEADERS) {
    throw new HttpRefusal(431, `The headers of the request are larger than ${LARGEST_HEADERS} bytes.`);
  }
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0]!;
}

function shortened(path: string): string {
  return path.length <= 100 ? path : `${path.slice(0, 100)}…`;
}
