import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerOptions } from "node:http";
import type { Logger } from "../../log/logger.ts";
import { createServer } from "../../runtime/node-http.ts";
import type { CallObserver, CallServer } from "../call-observer.ts";
import { traceOf } from "../request-trace.ts";
import type { AccessPolicy } from "./access/access-policy.ts";
import type { AccessLog } from "./access-log.ts";
import { ConnectionManager, type RecordFactory } from "./connection-manager.ts";
import type { Exchange } from "./exchange.ts";
import {
  CONNECTION_TIMEOUTS,
  type HttpLimits,
  LISTEN_BACKLOG,
  type ListeningAddress,
  listeningAddress,
  respondToClientError,
  type ServerLoad,
} from "./server.ts";

export interface HttpCoreOptions {
  logger: Logger;
  limits: HttpLimits;
  /** Omitted if the server has its own access rules. */
  policy?: AccessPolicy;
  accessLog?: AccessLog | undefined;
  observer?: CallObserver | undefined;
  /** Protocol name in the access log. If omitted, requests are not logged. */
  protocol?: CallServer;
  /** Options for Node's HTTP server, in addition to the timeouts. */
  http?: ServerOptions;
  /** Handles a request. If this throws, `respondWithError` is called. */
  handle(exchange: Exchange): void;
  /** Sends an error response. */
  respondWithError(exchange: Exchange, reason: unknown): void;
}

/** HTTP server used by all protocols: connection and rate limits, CORS, listening, graceful shutdown. */
export class HttpCore {
  readonly server: Server;
  readonly connections: ConnectionManager;
  readonly #options: HttpCoreOptions;
  #closing: Promise<void> | undefined;

  constructor(options: HttpCoreOptions) {
    this.#options = options;
    const { http, limits, logger, protocol } = options;
    this.server = createServer({ ...CONNECTION_TIMEOUTS, ...http }, (_, res) => {
      // Pipelined requests may still arrive after the connection has been destroyed.
      if (!res.req.socket.destroyed) this.#begin(this.connections.begin(res));
    });
    this.server.on("clientError", respondToClientError);
    this.connections = new ConnectionManager(this.server, limits, logger, protocol && this.recordFactory(protocol));
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  get load(): ServerLoad {
    return this.connections.load;
  }

  /** Returns a factory for access log records, or undefined if there is no access log. */
  recordFactory(protocol: CallServer): RecordFactory | undefined {
    const { accessLog, observer, policy } = this.#options;
    const loggedUrl = policy && ((url: string) => policy.loggedUrl(url));
    return accessLog && ((req) => accessLog.begin(protocol, this.#clientAddressOf(req), observer, loggedUrl));
  }

  async listen({ host, port }: { host: string; port: number }): Promise<ListeningAddress> {
    const { policy, logger } = this.#options;
    const { address } = await lookup(host);
    this.server.listen({ host: address, port, backlog: LISTEN_BACKLOG });
    await once(this.server, "listening");
    const where = listeningAddress(this.server);
    policy?.setListeningAddress({ name: host, address: where.host, url: where.url }, logger);
    return where;
  }

  /**
   * Stops accepting requests, waits for running calls, and then closes all connections. `endStreams` closes event
   * streams.
   */
  close(endStreams: () => Promise<void> | void): Promise<void> {
    this.#closing ??= this.connections.close(endStreams).finally(() => this.#options.accessLog?.flush());
    return this.#closing;
  }

  #clientAddressOf(req: IncomingMessage): string {
    return this.#options.policy?.clientAddressOf(req) ?? req.socket.remoteAddress ?? "";
  }

  #begin(exchange: Exchange): void {
    const { policy, handle, respondWithError } = this.#options;
    const { res } = exchange;
    policy?.hideKey(res.req);
    policy?.origins.setHeaders(res.req, res);
    const { record, deadline } = exchange;
    if (record || res.req.headers.traceparent !== undefined) deadline.trace = traceOf(res.req.headers);
    record?.setTrace(deadline.trace);
    try {
      this.connections.enforceRate(() => this.#clientAddressOf(res.req));
      handle(exchange);
    } catch (reason) {
      respondWithError(exchange, reason);
    }
  }
}
