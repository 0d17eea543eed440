import { monitorEventLoopDelay } from "node:perf_hooks";
import { nearestName } from "../../../errors/nearest-name.ts";
import type { Logger } from "../../../log/logger.ts";
import { createThreadLogger } from "../../../log/thread-logger.ts";
import type { Handlers } from "../../../threads/messages.ts";
import type { ThreadOutbox } from "../../../threads/outbox.ts";
import { receiveBytes } from "../../../threads/transferred-bytes.ts";
import { CallStatsCollector } from "../../call-stats.ts";
import { AccessLog } from "../../http/access-log.ts";
import type { HttpServer } from "../../http/server.ts";
import { createJsonRpcServer } from "../../jsonrpc/server.ts";
import { listenOnFreePort } from "../../listen.ts";
import type { CallableMethod, MethodTable } from "../../method-table.ts";
import type { RouteTable } from "../../rest/route-table.ts";
import { DirectCalls } from "../direct/direct-calls.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import type {
  EventLoopLag,
  MethodInfo,
  RouteInfo,
  ServeCommand,
  ServerName,
  ToMain,
  ToThread,
} from "../messages/protocol.ts";
import { RemoteCalls } from "./remote-calls.ts";
import { RemoteFeeds } from "./remote-feeds.ts";
import { RemoteStreams } from "./remote-streams.ts";

type EventLoopDelay = ReturnType<typeof monitorEventLoopDelay>;

/** Interval between unrequested reports, which bounds the size of the statistics. */
const REPORT_MILLIS = 1000;

const SERVER_NAMES: readonly ServerName[] = ["json-rpc", "eth-rpc", "rest"];

/** Loads the REST server on demand, because loading it takes as long as loading all other modules of the thread. */
export const loadRestServer = () => import("../../rest/server.ts");

/** Runs the servers in their thread, following commands from the main thread. */
export class ServerHost {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #logger: Logger;
  readonly #streams: RemoteStreams;
  readonly #feeds: RemoteFeeds;
  readonly #servers = new Map<ServerName, HttpServer>();
  #calls: RemoteCalls | undefined;
  #direct: DirectCalls | undefined;
  #measuring: { tallies: CallStatsCollector; delay: EventLoopDelay } | undefined;

  constructor(outbox: ThreadOutbox<ToMain>) {
    this.#outbox = outbox;
    this.#logger = createThreadLogger(outbox);
    this.#streams = new RemoteStreams(outbox);
    this.#feeds = new RemoteFeeds(outbox);
  }

  readonly handlers: Handlers<ToThread> = {
    serve: (command) => void this.#serve(command),
    response: (...answer) => this.#calls?.answer(...answer),
    "rest response": (...answer) => this.#calls?.respondToRequest(...answer),
    thrown: (id, thrown) => this.#calls?.fail(id, SERVER_ERRORS.deserialize(thrown)),
    subscribe: (...args) => this.#calls?.subscribe(...args),
    unsubscribe: (...args) => this.#calls?.unsubscribe(...args),
    chunk: (stream, bytes) => this.#streams.add(stream, bytes),
    end: (stream) => this.#streams.end(stream),
    break: (stream, thrown) => this.#streams.end(stream, SERVER_ERRORS.deserialize(thrown)),
    following: (feed) => this.#feeds.onFollowing(feed),
    event: (feed, topic, data) => this.#feeds.deliver(feed, { topic, data: receiveBytes(data) }),
    disconnect: (feed) => this.#feeds.cutOff(feed),
    connect: (connection, port) =>
      this.#direct?.connect(port, (method) => this.#outbox.send(["stuck", connection, method])),
    report: () => {
      this.#report();
      this.#measuring?.delay.reset();
    },
    close: () => void this.#close(),
  };

  async #serve(command: ServeCommand): Promise<void> {
    const { methods, routes, listen, pages, limits, revision, isMeasured, isLogged } = command;
    const direct = command.direct && new DirectCalls(command.direct);
    this.#direct = direct;
    const calls = new RemoteCalls({
      outbox: this.#outbox,
      streams: this.#streams,
      feeds: this.#feeds,
      revision,
      direct,
    });
    this.#calls = calls;
    const observer = isMeasured ? this.#measure() : undefined;
    const accessLog = isLogged ? new AccessLog((lines) => this.#outbox.send(["access", lines])) : undefined;
    const urls: { [Name in ServerName]?: string } = {};
    for (const name of SERVER_NAMES) {
      const options = listen[name];
      if (options === undefined) continue;
      const { access, namespaces } = options;
      const logger = this.#logger.topic(name === "rest" ? "rest" : "rpc");
      const server =
        name === "rest"
          ? (await loadRestServer()).createRestServer({
              table: routeTable(routes, calls),
              limits,
              access,
              observer,
              accessLog,
              logger,
              endpoints: urls,
            })
          : createJsonRpcServer({
              table: methodTable(methods, calls, namespaces),
              limits,
              access,
              observer,
              accessLog,
              pages: name === "json-rpc" ? pages : undefined,
              logger,
              endpoints: urls,
            });
      try {
        urls[name] = (await listenOnFreePort(server, options, logger)).url;
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        this.#outbox.send(["cannot listen", name, { message, code }]);
        return;
      }
      this.#servers.set(name, server);
    }
    this.#outbox.send(["listening", urls]);
  }

  #measure(): CallStatsCollector {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const stats = new CallStatsCollector();
    this.#measuring = { tallies: stats, delay };
    setInterval(() => this.#report(), REPORT_MILLIS).unref();
    return stats;
  }

  #report(): void {
    if (!this.#measuring) return;
    const { tallies, delay } = this.#measuring;
    const loads = Object.fromEntries(Array.from(this.#servers, ([name, server]) => [name, server.load()]));
    this.#outbox.send(["report", { loads, calls: tallies.drain(), lag: lagOf(delay), direct: this.#direct?.load }]);
  }

  async #close(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (server) => server.close()));
    this.#outbox.send(["closed"]);
  }
}

function methodTable(
  infos: readonly MethodInfo[],
  calls: RemoteCalls,
  namespaces: readonly string[] | undefined,
): MethodTable {
  const byName = new Map<string, CallableMethod>();
  infos.forEach(({ calledBy, ...method }, position) => {
    if (namespaces && !namespaces.some((namespace) => calledBy.startsWith(`${namespace}_`))) return;
    byName.set(calledBy, {
      ...method,
      call: (params, caller, cancellation, json) => calls.call(position, method, params, caller, cancellation, json),
      callByJson: (params, caller, cancellation) => calls.callByJson(position, params, caller, cancellation),
    });
  });
  return {
    find: (name) => byName.get(name),
    suggest: (name) => nearestName(name, byName.keys()),
  };
}

function routeTable(infos: readonly RouteInfo[], calls: RemoteCalls): RouteTable {
  return infos.map((route, position) => ({
    ...route,
    handle: (request) => calls.request(position, route, request),
  }));
}

function lagOf(delay: EventLoopDelay): EventLoopLag {
  const seconds = (nanoseconds: number) => nanoseconds / 1e9;
  return { p50: seconds(delay.percentile(50)), p99: seconds(delay.percentile(99)), max: seconds(delay.max) };
}
