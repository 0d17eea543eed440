import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { inspect } from "node:util";
import type { Logger } from "../log/logger.ts";
import { hostHeaderOf, hostNameOf } from "../server/http/access/host-header.ts";
import { isLoopbackAddress, isLoopbackHost } from "../server/http/access/loopback.ts";
import { HttpCore } from "../server/http/core.ts";
import type { Exchange } from "../server/http/exchange.ts";
import { HttpError, toErrorResponse } from "../server/http/http-error.ts";
import { MEDIA_TYPES } from "../server/http/response/negotiation.ts";
import { sendError } from "../server/http/response/send.ts";
import { DEFAULT_HTTP_LIMITS, type HttpServer } from "../server/http/server.ts";
import type { HealthProbes } from "../server/rest/probes.ts";
import type { Metrics } from "./metrics.ts";

const PATH = "/metrics";
const MAX_CONNECTIONS = 64;

interface MetricsServerParts {
  metrics: Pick<Metrics, "text" | "contentType">;
  probes: HealthProbes;
  logger: Logger;
}

/** Creates the server for `GET /metrics` and the health probes. Clients need no token. */
export function createMetricsServer({ metrics, probes, logger }: MetricsServerParts): HttpServer {
  const core = new HttpCore({
    logger,
    limits: { ...DEFAULT_HTTP_LIMITS, connections: MAX_CONNECTIONS },
    handle: (exchange) => void answer(exchange),
    respondWithError: ({ res }, reason) => respondWithError(res, reason),
  });
  let isLoopbackOnly = true;

  /** Never rejects. */
  async function answer(exchange: Exchange): Promise<void> {
    const { res } = exchange;
    const { req } = res;
    req.resume();
    exchange.beginProcessing();
    try {
      const probe = admit(req);
      const { status, body, type } = probe ? { ...(await probe(req.url!)), type: MEDIA_TYPES.json } : await collect();
      if (core.isClosing) res.shouldKeepAlive = false;
      const headers = { "Cache-Control": "no-store", "Content-Length": body?.length ?? 0 };
      if (!res.destroyed) res.writeHead(status, body ? { ...headers, "Content-Type": type } : headers).end(body);
    } catch (error) {
      respondWithError(res, error);
    }
    core.connections.finish(exchange);
  }

  function respondWithError(res: ServerResponse, reason: unknown): void {
    const { status, message, headers } = toErrorResponse(reason);
    if (status !== 500) {
      sendError(res, status, message, headers);
      return;
    }
    logger.error("Metrics could not be collected", { url: res.req.url, error: inspect(reason) });
    sendError(res, status, "The metrics could not be collected. See the log.");
  }

  async function collect() {
    return { status: 200, body: Buffer.from(await metrics.text()), type: metrics.contentType };
  }

  /** Returns the requested probe, or undefined for the metrics. Throws an `HttpError` for any other request. */
  function admit(req: IncomingMessage): ReturnType<HealthProbes["get"]> {
    if (!isLocalHostHeader(hostHeaderOf(req)) && isLoopbackOnly) {
      throw new HttpError(403, "The metrics are available on this machine only: use 127.0.0.1 or localhost.");
    }
    const path = req.url!.split("?", 1)[0]!;
    const probe = probes.get(path);
    if (!probe && path !== PATH) {
      throw new HttpError(404, `Not found. Available: ${[PATH, ...probes.keys()].join(", ")}.`);
    }
    if (req.method !== "GET" && req.method !== "HEAD") {
      throw new HttpError(405, `${path} accepts only GET and HEAD.`, { Allow: "GET, HEAD" });
    }
    return probe;
  }

  return {
    async listen(address) {
      const where = await core.listen(address);
      isLoopbackOnly = isLoopbackAddress(where.host);
      if (!isLoopbackOnly) logger.warn("Metrics are reachable from other machines", { url: where.url });
      return where;
    },
    load: () => core.load,
    close: () => core.close(() => {}),
  };
}

/** Accepts only loopback names and IP addresses, to prevent DNS rebinding. */
function isLocalHostHeader(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = hostNameOf(host)!;
  return isIP(name) !== 0 || isLoopbackHost(name);
}
