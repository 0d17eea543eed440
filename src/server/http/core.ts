import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { Server, ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../log/logger.ts";
import { createServer } from "../../runtime/node-http.ts";
import type { CallObserver, CallServer } from "../call-observer.ts";
import type { AccessLog } from "./access-log.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { type Exchange, Exchanges, type RecordRequest } from "./exchanges.ts";
import {
  answerClientError,
  CONNECTION_TIMEOUTS,
  type HttpLimits,
  LISTEN_BACKLOG,
  type ListeningAddress,
  listeningAddress,
  type ServerLoad,
} from "./server.ts";

export interface HttpCoreOptions {
  logger: Logger;
  limits: HttpLimits;
  /** Left out by a server with rules of its own. */
  policy?: AccessPolicy;
  accessLog?: AccessLog | undefined;
  observer?: CallObserver | undefined;
  /** The protocol that the access log names; left out by a server that is not logged. */
  protocol?: CallServer;
  /** Options of Node's server, besides its timeouts. */
  http?: ServerOptions;
  /** Answers a request. What it throws goes to `refuse`. */
  handle(exchange: Exchange): void;
  refuse(exchange: Exchange, reason: unknown): void;
}

/** The HTTP server below every protocol: connections and their limits, the request rate, CORS, listening and closing. */
export class HttpCore {
  readonly server: Server;
  readonly exchanges: Exchanges;
  readonly #options: HttpCoreOptions;
  #closing: Promise<void> | undefined;

  constructor(options: HttpCoreOptions) {
    this.#options = options;
    const { http, limits, logger, protocol } = options;
    this.server = createServer({ ...CONNECTION_TIMEOUTS, ...http }, (_, res) => {
      // Requests that a client has sent ahead go on coming after its connection was destroyed.
      if (!res.req.socket.destroyed) this.#begin(this.exchanges.begin(res));
    });
    this.server.on("clientError", answerClientError);
    this.exchanges = new Exchanges(this.server, limits, logger, protocol && this.recorder(protocol));
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  get load(): ServerLoad {
    return this.exchanges.load;
  }

  /** Begins records of the access log; undefined when there is none. */
  recorder(protocol: CallServer): RecordRequest | undefined {
    const { accessLog, observer } = this.#options;
    return accessLog && ((socket: Socket) => accessLog.begin(protocol, socket, observer));
  }

  async listen({ host, port }: { host: string; port: number }): Promise<ListeningAddress> {
    const { policy, logger } = this.#options;
    const { address } = await lookup(host);
    this.server.listen({ host: address, port, backlog: LISTEN_BACKLOG });
    await once(this.server, "listening");
    const where = listeningAddress(this.server);
    policy?.listensOn({ name: host, address: where.host, url: where.url }, logger);
    return where;
  }

  /** Accepts nothing more, lets running calls finish, then closes every connection. `endStreams` ends event streams. */
  close(endStreams: () => Promise<void> | void): Promise<void> {
    this.#closing ??= this.exchanges.close(endStreams).finally(() => this.#options.accessLog?.flush());
    return this.#closing;
  }

  #begin(exchange: Exchange): void {
    const { policy, handle, refuse } = this.#options;
    const { res } = exchange;
    policy?.origins.setHeaders(res.req, res);
    try {
      this.exchanges.requireRate(res.req);
      handle(exchange);
    } catch (reason) {
      refuse(exchange, reason);
    }
  }
}
