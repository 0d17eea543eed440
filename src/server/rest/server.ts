import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Failure } from "../../failure.ts";
import type { Logger } from "../../log/logger.ts";
import { createEventStreams, type EventStreamLimits } from "../events/sse.ts";
import { Deadlines } from "../http/deadline.ts";
import { bodyFormat, chooseFormat, type Format } from "../http/negotiation.ts";
import { errorBody, HttpRefusal, reportThrown } from "../http/refusal.ts";
import {
  answerClientError,
  CONNECTION_TIMEOUTS,
  closeGracefully,
  DEFAULT_HTTP_LIMITS,
  type HttpLimits,
  type HttpServer,
  type ListeningAddress,
  listeningAddress,
  OpenResponses,
} from "../http/server.ts";
import { CrossOriginPolicy } from "./cross-origin.ts";
import { entityTag, namesTag } from "./entity-tag.ts";
import type { RestAnswer, RestRoute, RouteTable } from "./route-table.ts";
import { abandonAnswer, type OpenAnswer, openAnswer, sendAnswer } from "./send.ts";

export interface RestServerOptions {
  table: RouteTable;
  logger: Logger;
  /** Origins whose pages may use the server from a browser; "*" stands for all, none given for none. */
  allowedOrigins?: readonly string[];
  limits?: Partial<HttpLimits>;
  eventLimits?: Partial<EventStreamLimits>;
}

/** A public key in hex has 98 characters; what is longer than this names nothing. */
const LONGEST_PATH_PARAMETER = 500;

const OTHER_VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export function createRestServer(options: RestServerOptions): HttpServer {
  const { table, logger, allowedOrigins = [] } = options;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const eventStreams = createEventStreams(options.eventLimits);
  const origins = new CrossOriginPolicy(allowedOrigins);
  const deadlines = new Deadlines(limits.requestMillis);
  const running = new OpenResponses();
  let closing: Promise<void> | undefined;

  const app = fastify({
    logger: false,
    bodyLimit: limits.bodyBytes,
    ...CONNECTION_TIMEOUTS,
    routerOptions: { maxParamLength: LONGEST_PATH_PARAMETER, querystringParser: () => ({}) },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      void answer(request.raw, reply, async () => {
        throw new HttpRefusal(error.statusCode ?? 400, "The path of the request cannot be read.");
      });
    },
  });
  app.removeAllContentTypeParsers();
  // What a body is, its route knows.
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((request, reply) =>
    answer(request.raw, reply, async () => {
      throw new HttpRefusal(404, `There is nothing at ${shortened(pathOf(request))}.`);
    }),
  );
  app.setErrorHandler((error, request, reply) =>
    answer(request.raw, reply, async () => Promise.reject(bodyRefusal(error))),
  );
  app.addHook("onRequest", async (request, reply) => {
    const res = reply.raw;
    running.add(res);
    res.once("close", () => running.delete(res));
    origins.setHeaders(request.raw, res);
  });
  for (const [path, routes] of byPath(table)) addPath(app, path, routes);

  function addPath(instance: FastifyInstance, path: string, routes: RestRoute[]): void {
    const url = path.replaceAll(/\{(\w+)\}/g, ":$1");
    const served = routes.flatMap(({ verb }) => (verb === "GET" ? ["GET", "HEAD"] : [verb]));
    const allow = [...served, "OPTIONS"].join(", ");
    for (const route of routes) {
      instance.route({
        method: route.verb,
        url,
        handler: (request, reply) => answer(request.raw, reply, () => run(route, request)),
      });
    }
    instance.route({
      method: OTHER_VERBS.filter((verb) => !served.includes(verb)),
      url,
      exposeHeadRoute: true,
      handler: (request, reply) =>
        answer(request.raw, reply, async () => {
          throw new HttpRefusal(405, `${path} is asked with ${served.join(" or ")}.`, { Allow: allow });
        }),
    });
    instance.options(url, (request, reply) =>
      answer(request.raw, reply, async () => {
        origins.setPreflightHeaders(request.raw, reply.raw, served.join(", "));
        return { status: 204, headers: { Allow: allow } };
      }),
    );
  }

  async function run(route: RestRoute, request: FastifyRequest): Promise<RestAnswer> {
    // Pages of other sites could else change the node with requests that browsers send without asking first.
    if (route.verb !== "GET" && !origins.allows(request.headers.origin)) {
      throw new HttpRefusal(403, `Pages of ${request.headers.origin} may not use this node.`);
    }
    const { accept, "content-type": contentType } = request.headers;
    const body = request.body as Buffer | undefined;
    const { url = "" } = request.raw;
    const mark = url.indexOf("?");
    const format = route.answers.length === 0 ? undefined : chooseFormat(accept, route.answers);
    const answer = await route.handle({
      params: request.params as Record<string, string>,
      query: mark === -1 ? "" : url.slice(mark + 1),
      // Node joins repeated headers, but for one that no route reads.
      headers: request.headers as Record<string, string | undefined>,
      body,
      format,
      get bodyFormat() {
        return bodyFormatOf(route, contentType, body);
      },
      entity(source) {
        const tag = entityTag(JSON.stringify([url, format, source]));
        return { tag, isHeld: route.verb === "GET" && namesTag(request.headers["if-none-match"], tag) };
      },
    });
    if (answer.feed && !eventStreams.hasRoom) {
      throw new HttpRefusal(503, "As many callers as the node can serve are reading events now.");
    }
    return answer;
  }

  /** Never rejects. */
  async function answer(req: IncomingMessage, reply: FastifyReply, work: () => Promise<RestAnswer>): Promise<void> {
    reply.hijack();
    const res = reply.raw;
    const deadline = deadlines.begin();
    let open: OpenAnswer;
    try {
      open = await deadline.race(work().then(openAnswer), abandonAnswer);
    } catch (error) {
      report(req, error);
      open = await openAnswer(refusalAnswer(error));
    } finally {
      deadlines.end(deadline);
    }
    if (closing !== undefined) res.shouldKeepAlive = false;
    const { feed } = open.answer;
    try {
      if (feed && req.method !== "HEAD" && !res.destroyed) eventStreams.serve(feed, res);
      else await sendAnswer(req, res, open, limits.requestMillis);
    } catch (error) {
      logger.error("A REST request could not be answered as it should.", { url: req.url, error: inspect(error) });
      res.destroy();
    }
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
    const url = await app.listen({ host: address, port });
    return listeningAddress("REST", app.server, logger, url);
  }

  async function shutDown(): Promise<void> {
    await closeGracefully(app.server, running, eventStreams.close);
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

/** Undefined for a route that does not read its bodies by their type. */
function bodyFormatOf(
  { accepts, bodyOptional }: RestRoute,
  contentType: string | undefined,
  body: Buffer | undefined,
): Format | undefined {
  // With a body that is left out goes its type.
  if (accepts.length === 0 || (bodyOptional && contentType === undefined && !body?.length)) return accepts[0];
  return bodyFormat(contentType, accepts);
}

function refusalAnswer(thrown: unknown): RestAnswer {
  const { status, message, failures, headers } = reportThrown(thrown);
  return { status, headers, content: { format: "json", parts: [errorBody(status, message, failures)] } };
}

/** What fastify refuses before a route sees it: a body that is too large or cut short, a type that is none. */
function bodyRefusal(error: unknown): unknown {
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  if (statusCode === undefined || statusCode >= 500) return error;
  if (statusCode === 413) return new HttpRefusal(413, "The request body is too large.");
  if (statusCode === 415) return new HttpRefusal(415, "The header Content-Type is not a media type.");
  return new HttpRefusal(statusCode, `The request cannot be read: ${message}.`);
}

function pathOf({ raw }: FastifyRequest): string {
  return (raw.url ?? "").split("?", 1)[0]!;
}

function shortened(path: string): string {
  return path.length <= 100 ? path : `${path.slice(0, 100)}…`;
}
