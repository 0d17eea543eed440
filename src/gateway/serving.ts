import { ClosingStack } from "../async/closing-stack.ts";
import type { Timers } from "../async/timers.ts";
import type { Logger } from "../log/logger.ts";
import { CallTallies, type CallTally } from "../server/call-tallies.ts";
import { AccessLog, type WriteLines } from "../server/http/access-log.ts";
import type { AccessOptions } from "../server/http/access-policy.ts";
import type { PageFiles } from "../server/http/pages.ts";
import type { HttpServer, ServerLoad } from "../server/http/server.ts";
import type { JsonRpcLimits } from "../server/jsonrpc/limits.ts";
import { createJsonRpcServer } from "../server/jsonrpc/server.ts";
import { ListenError } from "../server/listen-error.ts";
import { cacheOfQuorum } from "./cache/cache-of-quorum.ts";
import { Reads } from "./cache/reads.ts";
import { createGatewayTables } from "./calls/tables.ts";
import type { ChainFacts } from "./chain-facts.ts";
import type { Conditions } from "./condition.ts";
import type { GatewayEvents } from "./events.ts";
import type { GatewayOptions } from "./options.ts";
import { GatewayTallies, type GatewayTally } from "./tallies.ts";
import type { Bonds } from "./upstream/bonds.ts";
import { Quorum } from "./upstream/quorum.ts";
import { Upstreams } from "./upstream/upstreams.ts";

export interface Listening {
  host: string;
  /** 0 for any free port. */
  port: number;
  access?: AccessOptions;
}

/** What is served, and where; a plain value, which can be sent to another process. */
export interface ServedOptions {
  limits: Partial<JsonRpcLimits>;
  jsonRpc?: Listening;
  rest?: Listening;
  /** What browsers are shown. */
  pages?: PageFiles | undefined;
}

interface ServingParts {
  options: GatewayOptions;
  facts: ChainFacts;
  conditions: Conditions;
  events: GatewayEvents;
  /** An upstream gave no answer several times in a row. */
  onSuspect(upstream: string, reason: string): void;
  /** Which upstreams gave the first of what belongs together, where other processes know that, too. */
  bonds?: Bonds;
  served: ServedOptions;
  /** Whether calls are counted. */
  isMeasured: boolean;
  /** Gets the lines of the access log; left out when there is none. */
  writeAccess?: WriteLines | undefined;
  timers: Timers;
  logger: Logger;
}

export type ServerName = "json-rpc" | "rest";
export type ServedUrls = { [Name in ServerName]?: string };

/** What was observed since it was last told; a plain value, which can be sent to another process. */
export interface ServingReport {
  loads: [ServerName, ServerLoad][];
  calls: CallTally[];
  gateway: GatewayTally;
}

interface OpenedServing {
  urls: ServedUrls;
  servers: ReadonlyMap<ServerName, HttpServer>;
  calls: CallTallies;
  tallies: GatewayTallies;
  draining: { isDraining: boolean };
  opened: ClosingStack;
}

/** What serves in one process: the servers, and behind them all that a call goes through on its way to an upstream. */
export class GatewayServing {
  readonly urls: ServedUrls;
  readonly #servers: ReadonlyMap<ServerName, HttpServer>;
  readonly #calls: CallTallies;
  readonly #tallies: GatewayTallies;
  readonly #draining: { isDraining: boolean };
  readonly #opened: ClosingStack;

  static async open(parts: ServingParts): Promise<GatewayServing> {
    const { options, facts, conditions, events, onSuspect, bonds, served, isMeasured, writeAccess, timers, logger } =
      parts;
    await using opening = new ClosingStack();
    const tallies = new GatewayTallies();
    const calls = new CallTallies();
    const draining = { isDraining: false };
    const observer = isMeasured ? tallies : undefined;
    const upstreams = new Upstreams({ options, conditions, timers, observer, logger, onSuspect, bonds });
    opening.defer(() => upstreams.close());
    const quorum = new Quorum({ upstreams, count: options.quorum, timers, observer });
    const reads = new Reads({
      ask: (question) => quorum.read(question),
      revision: events.revision,
      facts,
      memoryBytes: options.memoryBytes,
      cache: options.cache && cacheOfQuorum(options.cache, options.quorum),
      conditions,
      timers,
      logger,
      observer,
    });
    opening.defer(() => reads.close());
    const isClosing = () => draining.isDraining;
    const { methods, routes } = createGatewayTables({ reads, upstreams, conditions, events, facts, isClosing });
    const shared = {
      limits: served.limits,
      observer: isMeasured ? calls : undefined,
      accessLog: writeAccess && new AccessLog(writeAccess, timers),
    };
    const { jsonRpc, rest, pages } = served;
    const urls: ServedUrls = {};
    const servers = new Map<ServerName, HttpServer>();
    async function start(name: ServerName, server: HttpServer, where: Listening): Promise<void> {
      try {
        urls[name] = (await server.listen(where)).url;
      } catch (error) {
        throw new ListenError(name, error as NodeJS.ErrnoException);
      }
      servers.set(name, server);
    }
    opening.defer(() => Promise.all(Array.from(servers.values(), (server) => server.close())));
    if (jsonRpc) {
      const { access } = jsonRpc;
      const own = { table: methods, access, pages, logger: logger.topic("rpc") };
      await start("json-rpc", createJsonRpcServer({ ...shared, ...own }), jsonRpc);
    }
    if (rest) {
      // It takes long to load.
      const { createRestServer } = await import("../server/rest/server.ts");
      const own = { table: routes, access: rest.access, logger: logger.topic("rest") };
      await start("rest", createRestServer({ ...shared, ...own }), rest);
    }
    return new GatewayServing({ urls, servers, calls, tallies, draining, opened: opening.move() });
  }

  private constructor({ urls, servers, calls, tallies, draining, opened }: OpenedServing) {
    this.urls = urls;
    this.#servers = servers;
    this.#calls = calls;
    this.#tallies = tallies;
    this.#draining = draining;
    this.#opened = opened;
  }

  report(): ServingReport {
    const loads = Array.from(this.#servers, ([name, server]): [ServerName, ServerLoad] => [name, server.load()]);
    return { loads, calls: this.#calls.take(), gateway: this.#tallies.take() };
  }

  /** Says from now on that it is not ready, and goes on to serve. */
  drain(): void {
    this.#draining.isDraining = true;
  }

  /** Accepts nothing more, lets running calls finish, then closes all that they went through. */
  async close(): Promise<void> {
    this.drain();
    await this.#opened[Symbol.asyncDispose]();
  }
}
