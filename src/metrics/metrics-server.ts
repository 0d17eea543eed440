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
import { HttpRefusal } from "../server/http/refusal.ts";
import { CONNECTION_TIMEOUTS, DEFAULT_HTTP_LIMITS, type HttpServer, listeningAddress } from "../server/http/server.ts";
import { sendRefusal } from "../server/jsonrpc/send.ts";
import type { Metrics } from "./metrics.ts";

const PATH = "/metrics";
/** Scrapers are few. */
const CONNECTIONS = 64;

/** Answers `GET /metrics`. */
export function createMetricsServer(metrics: Pick<Metrics, "text" | "contentType">, logger: Logger): HttpServer {
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
      admit(req);
      const text = Buffer.from(await metrics.text());
      if (res.destroyed) return;
      if (closing) res.shouldKeepAlive = false;
      res.writeHead(200, { "Content-Type": metrics.contentType, "Content-Length": text.length }).end(text);
    } catch (error) {
      if (error instanceof HttpRefusal) {
        sendRefusal(res, error.status, error.message, error.headers);
        return;
      }
      logger.error("The metrics could not be collected.", { error: inspect(error) });
      sendRefusal(res, 500, "The metrics could not be collected; the log says why.");
    }
  }

  /** Throws an `HttpRefusal` for a request that is not answered. */
  function admit(req: IncomingMessage): void {
    if (!namesThisMachine(hostHeaderOf(req)) && isForThisMachine) {
      throw new HttpRefusal(403, "These metrics are for this machine alone: ask for them at 127.0.0.1 or localhost.");
    }
    if (req.url?.split("?", 1)[0] !== PATH) throw new HttpRefusal(404, `There is nothing here but ${PATH}.`);
    if (req.method !== "GET" && req.method !== "HEAD") {
      throw new HttpRefusal(405, `${PATH} is asked with GET or HEAD.`, { Allow: "GET, HEAD" });
    }
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
