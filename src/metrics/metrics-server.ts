import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { inspect } from "node:util";
import type { Logger } from "../log/logger.ts";
import { HttpCore } from "../server/http/core.ts";
import type { Exchange } from "../server/http/exchanges.ts";
import { hostHeaderOf, hostNameOf } from "../server/http/host-header.ts";
import { isLoopbackAddress, isLoopbackHost } from "../server/http/loopback.ts";
import { MEDIA_TYPES } from "../server/http/negotiation.ts";
import { HttpRefusal, reportThrown } from "../server/http/refusal.ts";
import { sendRefusal } from "../server/http/send.ts";
import { DEFAULT_HTTP_LIMITS, type HttpServer } from "../server/http/server.ts";
import type { Probes } from "../server/rest/probes.ts";
import type { Metrics } from "./metrics.ts";

const PATH = "/metrics";
/** Scrapers are few. */
const CONNECTIONS = 64;

interface MetricsServerParts {
  metrics: Pick<Metrics, "text" | "contentType">;
  probes: Probes;
  logger: Logger;
}

/** Answers `GET /metrics` and health probes, without a token. */
export function createMetricsServer({ metrics, probes, logger }: MetricsServerParts): HttpServer {
  const core = new HttpCore({
    logger,
    limits: { ...DEFAULT_HTTP_LIMITS, connections: CONNECTIONS },
    handle: (exchange) => void answer(exchange),
    refuse: ({ res }, reason) => refuse(res, reason),
  });
  let isForThisMachine = true;

  /** Never rejects. */
  async function answer(exchange: Exchange): Promise<void> {
    const { res } = exchange;
    const { req } = res;
    req.resume();
    exchange.work();
    try {
      const probe = admit(req);
      const { status, body, type } = probe ? { ...(await probe(req.url!)), type: MEDIA_TYPES.json } : await collect();
      if (core.isClosing) res.shouldKeepAlive = false;
      const headers = { "Cache-Control": "no-store", "Content-Length": body?.length ?? 0 };
      if (!res.destroyed) res.writeHead(status, body ? { ...headers, "Content-Type": type } : headers).end(body);
    } catch (error) {
      refuse(res, error);
    }
    core.exchanges.finish(exchange);
  }

  function refuse(res: ServerResponse, reason: unknown): void {
    const { status, message, headers } = reportThrown(reason);
    if (status !== 500) {
      sendRefusal(res, status, message, headers);
      return;
    }
    logger.error("The metrics could not be collected.", { url: res.req.url, error: inspect(reason) });
    sendRefusal(res, status, "The metrics could not be collected; the log says why.");
  }

  async function collect() {
    return { status: 200, body: Buffer.from(await metrics.text()), type: metrics.contentType };
  }

  /** Returns the probe that a request is for, undefined for the metrics. Throws an `HttpRefusal` for one that is not answered. */
  function admit(req: IncomingMessage): ReturnType<Probes["get"]> {
    if (!namesThisMachine(hostHeaderOf(req)) && isForThisMachine) {
      throw new HttpRefusal(403, "These metrics are for this machine alone: ask for them at 127.0.0.1 or localhost.");
    }
    const path = req.url!.split("?", 1)[0]!;
    const probe = probes.get(path);
    if (!probe && path !== PATH) {
      throw new HttpRefusal(404, `There is nothing here but ${[PATH, ...probes.keys()].join(", ")}.`);
    }
    if (req.method !== "GET" && req.method !== "HEAD") {
      throw new HttpRefusal(405, `${path} is asked with GET or HEAD.`, { Allow: "GET, HEAD" });
    }
    return probe;
  }

  return {
    async listen(given) {
      const where = await core.listen(given);
      isForThisMachine = isLoopbackAddress(where.host);
      if (!isForThisMachine) logger.warn("Other machines can read the metrics.", { url: where.url });
      return where;
    },
    load: () => core.load,
    close: () => core.close(() => {}),
  };
}

/** A page whose own name was made to mean this machine would come with that name. */
function namesThisMachine(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = hostNameOf(host)!;
  return isIP(name) !== 0 || isLoopbackHost(name);
}
