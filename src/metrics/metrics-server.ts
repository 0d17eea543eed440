import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { inspect } from "node:util";
import type { Logger } from "../log/logger.ts";
import { isLoopbackAddress, isLoopbackHost } from "../loopback.ts";
import { createServer } from "../node-http.ts";
import { Exchanges } from "../server/http/exchanges.ts";
import { hostHeaderOf, hostNameOf } from "../server/http/host-header.ts";
import { MEDIA_TYPES } from "../server/http/negotiation.ts";
import { HttpRefusal, reportThrown } from "../server/http/refusal.ts";
import { CONNECTION_TIMEOUTS, DEFAULT_HTTP_LIMITS, type HttpServer, listeningAddress } from "../server/http/server.ts";
import { sendRefusal } from "../server/jsonrpc/send.ts";
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
  const server = createServer(CONNECTION_TIMEOUTS, (req, res) => {
    const exchange = exchanges.begin(res);
    req.resume();
    exchange.work();
    void answer(req, res).finally(() => exchanges.finish(exchange));
  });
  const exchanges = new Exchanges(server, { ...DEFAULT_HTTP_LIMITS, connections: CONNECTIONS }, logger);
  let closing: Promise<void> | undefined;
  let isForThisMachine = true;

  /** Never rejects. */
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const probe = admit(req);
      const { status, body, type } = probe ? { ...(await probe(req.url!)), type: MEDIA_TYPES.json } : await collect();
      if (res.destroyed) return;
      if (closing) res.shouldKeepAlive = false;
      const headers = { "Cache-Control": "no-store", "Content-Length": body?.length ?? 0 };
      res.writeHead(status, body ? { ...headers, "Content-Type": type } : headers).end(body);
    } catch (error) {
      const { status, message, headers } = reportThrown(error);
      if (status === 500) logger.error("The metrics could not be collected.", { url: req.url, error: inspect(error) });
      sendRefusal(
        res,
        status,
        status === 500 ? "The metrics could not be collected; the log says why." : message,
        headers,
      );
    }
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
    async listen({ host, port }) {
      const { address } = await lookup(host);
      server.listen({ host: address, port });
      await once(server, "listening");
      const where = listeningAddress(server);
      isForThisMachine = isLoopbackAddress(where.host);
      if (!isForThisMachine) logger.warn("Other machines can read the metrics.", { url: where.url });
      return where;
    },
    load: () => exchanges.load,
    close: () => {
      closing ??= exchanges.close(() => {});
      return closing;
    },
  };
}

/** A page whose own name was made to mean this machine would come with that name. */
function namesThisMachine(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = hostNameOf(host)!;
  return isIP(name) !== 0 || isLoopbackHost(name);
}
