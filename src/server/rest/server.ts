import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Failure } from "../../failure.ts";
import type { Logger } from "../../log/logger.ts";
import type { CallObserver, ObservedCall } from "../call-observer.ts";
import { createEventStreams, type EventStreamLimits } from "../events/sse.ts";
import type { AccessLog } from "../http/access-log.ts";
import { type AccessOptions, AccessPolicy } from "../http/access-policy.ts";
import { type Exchange, Exchanges } from "../http/exchanges.ts";
import { chooseFormat, requirePlainBody } from "../http/negotiation.ts";
import { receiveBody } from "../http/receive.ts";
import { errorBody, HttpRefusal, reportThrown } from "../http/refusal.ts";
import {
  answerClientError,
  CONNECTION_TIMEOUTS,
  DEFAULT_HTTP_LIMITS,
  type HttpLimits,
  type HttpServer,
  LISTEN_BACKLOG,
  type ListeningAddress,
  listeningAddress,
} from "../http/server.ts";
import { RequestToRoute } from "./request.ts";
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

/** What is known of a route before its request is read. */
interface RouteConfig {
  bodyBytes?: number;
  /** Fastify itself writes the verb of the request here, as `method`. */
  methodName?: string;
  isProbe?: true | undefined;
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
  let closing: Promise<void> | undefined;

  const app = fastify({
    logger: false,
    ...CONNECTION_TIMEOUTS,
    http: { maxHeaderSize: LARGEST_HEAD },
    routerOptions: { maxParamLength: LONGEST_URL, querystringParser: () => ({}) },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      const refuse = async () => {
        requireSizes(request.raw);
        throw new HttpRefusal(error.statusCode ?? 400, "The path of the request is not percent-encoded UTF-8.");
      };
      void answer(request.raw, reply, refuse, observe(request.raw));
    },
  });
  const record = accessLog && ((socket: Socket) => accessLog.begin("rest", socket, observer));
  const exchanges = new Exchanges(app.server, limits, logger, record);
  const eventStreams = createEventStreams(exchanges.answerBytes, options.eventLimits);
  app.removeAllContentTypeParsers();
  // What a body is, its route knows.
  app.addContentTypeParser("*", (request, payload, done) => {
    const { bodyBytes = limits.smallBodyBytes } = request.routeOptions.config as RouteConfig;
    const exchange = exchanges.of(request.raw)!;
    receiveBody(payload, exchange, { bytes: bodyBytes }, (body) => done(null, body), done);
  });
  const paths = [...byPath(table)].map(([path, routes]) => new ServedPath(path, routes));
  app.setErrorHandler((error, request, reply) =>
    answer(request.raw, reply, async () => Promise.reject(bodyRefusal(error)), observe(request.raw, methodOf(request))),
  );
  // What a hook throws is the answer, also without the promise of an async function, which every request would wait for.
  app.addHook("onRequest", (request, reply, goOn) => {
    // What a client has sent ahead goes on coming when it is cut off.
    if (request.raw.socket.destroyed) {
      reply.hijack();
      return;
    }
    exchanges.begin(reply.raw);
    policy.origins.setHeaders(request.raw, reply.raw);
    exchanges.requireRate(request.raw);
    requireSizes(request.raw);
    if ((request.routeOptions.config as RouteConfig).isProbe) policy.admitReader(request.raw);
    else policy.admit(request.raw);
    if (request.is404) throw notServed(pathOf(request));
    goOn();
  });
  for (const path of paths) addPath(app, path);

  function notServed(asked: string): HttpRefusal {
    const served = paths.find(({ pattern }) => pattern.test(asked));
    if (served === undefined) return new HttpRefusal(404, `There is nothing at ${shortened(asked)}.`);
    const { path, verbs, allow } = served;
    return new HttpRefusal(405, `${path} is asked with ${verbs.join(" or ")}.`, { Allow: allow });
  }

  function addPath(instance: FastifyInstance, { path, routes, verbs, allow }: ServedPath): void {
    const url = path.replaceAll(PLACEHOLDER, ":$1");
    for (const route of routes) {
      instance.route({
        method: route.verb,
        url,
        config: {
          bodyBytes: route.takesLargeBody ? limits.bodyBytes : limits.smallBodyBytes,
          methodName: route.method,
          isProbe: route.isProbe,
        } satisfies RouteConfig,
        // Before the body is read.
        onRequest: ({ raw }, _, goOn) => {
          const refusal = policy.refusal(route.access, policy.isPrivileged(raw));
          if (refusal !== undefined) throw new HttpRefusal(403, refusal);
          goOn();
        },
        handler: (request, reply) => {
          const observed = observe(request.raw, route.method);
          void answer(request.raw, reply, (exchange) => run(route, request, exchange), observed);
        },
      });
    }
    instance.options(url, (request, reply) =>
      answer(request.raw, reply, async () => {
        policy.origins.setPreflightHeaders(request.raw, reply.raw, verbs.join(", "));
        return { status: 204, headers: { Allow: allow } };
      }),
    );
  }

  /** The call of a method, or of none that exists. */
  function observe(req: IncomingMessage, method?: string): ObservedCall | undefined {
    return (exchanges.of(req)?.record ?? observer)?.begin("rest", method);
  }

  async function run(route: RestRoute, request: FastifyRequest, exchange: Exchange): Promise<RestAnswer> {
    if (route.verb === "POST") requirePlainBody(request.headers["content-encoding"]);
    const answer = await route.handle(
      new RequestToRoute(route, {
        params: request.params as Record<string, string>,
        url: request.raw.url ?? "",
        // Node joins repeated headers, but for one that no route reads.
        headers: request.headers as Record<string, string | undefined>,
        body: request.body as Buffer | undefined,
        waiting: exchange.deadline,
        format: route.answers.length === 0 ? undefined : chooseFormat(request.headers.accept, route),
      }),
    );
    if (answer.feed && !eventStreams.hasRoom) {
      throw new HttpRefusal(503, "As many callers as the node can serve are reading events now.");
    }
    return route.isProbe && !policy.hasToken(request.raw) ? { status: answer.status } : answer;
  }

  /** Never rejects. */
  async function answer(
    req: IncomingMessage,
    reply: FastifyReply,
    work: (exchange: Exchange) => Promise<RestAnswer>,
    observed?: ObservedCall,
  ): Promise<void> {
    reply.hijack();
    const res = reply.raw;
    const exchange = exchanges.of(req) ?? exchanges.begin(res);
    const turn = exchange.turn();
    if (turn) await turn;
    if (exchange.isOver) {
      observed?.end(undefined);
      return;
    }
    exchange.work();
    let open: OpenAnswer;
    try {
      const opened = work(exchange).then((given) => openAnswer(given, exchange, observed));
      open = await exchange.deadline.race(opened, abandonAnswer);
    } catch (error) {
      report(req, error);
      exchange.dropRest();
      open = await openAnswer(refusalAnswer(error), exchange, observed);
    }
    exchange.answer();
    exchange.record?.answeredWith(open.answer.headers);
    const { status } = open.answer;
    observed?.end(status >= 400 ? status : undefined);
    if (closing !== undefined) res.shouldKeepAlive = false;
    const { feed } = open.answer;
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

  async function listen({ host, port }: { host: string; port: number }): Promise<ListeningAddress> {
    const { address } = await lookup(host);
    await app.listen({ host: address, port, backlog: LISTEN_BACKLOG });
    const where = listeningAddress(app.server);
    policy.listensOn({ name: host, address: where.host, url: where.url }, logger);
    return where;
  }

  async function shutDown(): Promise<void> {
    await exchanges.close(eventStreams.close);
    await app.close();
    accessLog?.flush();
  }

  return {
    listen,
    load: () => exchanges.load,
    close: () => {
      closing ??= shutDown();
      return closing;
    },
  };
}

const PLACEHOLDER = /\{(\w+)\}/g;

/** A path with everything that is served there. */
class ServedPath {
  readonly path: string;
  readonly routes: readonly RestRoute[];
  readonly verbs: readonly string[];
  /** The value of the header Allow. */
  readonly allow: string;
  /** What the path of a request looks like. */
  readonly pattern: RegExp;

  constructor(path: string, routes: readonly RestRoute[]) {
    this.path = path;
    this.routes = routes;
    this.verbs = routes.flatMap(({ verb }) => (verb === "GET" ? ["GET", "HEAD"] : [verb]));
    this.allow = [...this.verbs, "OPTIONS"].join(", ");
    this.pattern = new RegExp(`^${path.replaceAll(PLACEHOLDER, "[^/]+")}$`);
  }
}

function byPath(table: RouteTable): Map<string, RestRoute[]> {
  const paths = new Map<string, RestRoute[]>();
  for (const route of table) {
    const same = paths.get(route.path) ?? [];
    if (same.some(({ verb }) => verb === route.verb)) {
      throw new Error(`Two routes answer ${route.verb} ${route.path}.`);
    }
    paths.set(route.path, [...same, route]);
  }
  return paths;
}

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

/** What fastify refuses before a route sees it: a body that is too large or cut short, a type that is none. */
function bodyRefusal(error: unknown): unknown {
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  if (statusCode === undefined || statusCode >= 500) return error;
  if (statusCode === 415) return new HttpRefusal(415, "The header Content-Type is not a media type.");
  return new HttpRefusal(statusCode, `The request cannot be read: ${message}.`);
}

/** The name of the method that the route of a request calls. */
function methodOf({ routeOptions }: FastifyRequest): string | undefined {
  return (routeOptions.config as RouteConfig).methodName;
}

function pathOf({ raw }: FastifyRequest): string {
  return (raw.url ?? "").split("?", 1)[0]!;
}

function shortened(path: string): string {
  return path.length <= 100 ? path : `${path.slice(0, 100)}…`;
}
