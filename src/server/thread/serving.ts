import { monitorEventLoopDelay } from "node:perf_hooks";
import { nearestName } from "../../errors/nearest-name.ts";
import type { Logger } from "../../log/logger.ts";
import { CallTallies } from "../call-tallies.ts";
import { AccessLog } from "../http/access-log.ts";
import type { HttpServer } from "../http/server.ts";
import { createJsonRpcServer } from "../jsonrpc/server.ts";
import type { Method, MethodTable } from "../method-table.ts";
import type { RouteTable } from "../rest/route-table.ts";
import type { ThreadOutbox } from "./outbox.ts";
import { received } from "./passed-bytes.ts";
import type {
  EventLoopLag,
  Handlers,
  MethodFacts,
  RouteFacts,
  ServerName,
  ServingOrder,
  ToMain,
  ToThread,
} from "./protocol.ts";
import { RemoteCalls } from "./remote-calls.ts";
import { RemoteFeeds } from "./remote-feeds.ts";
import { RemoteStreams } from "./remote-streams.ts";
import { createThreadLogger } from "./thread-logger.ts";
import { receiveThrown } from "./thrown.ts";

type EventLoopDelay = ReturnType<typeof monitorEventLoopDelay>;

/** How often what was observed is told although nobody asks, so that it does not grow. */
const REPORT_MILLIS = 1000;

const SERVER_NAMES: readonly ServerName[] = ["json-rpc", "rest"];

/** It takes as long to load as all else here, so that only who serves REST does. */
export const loadRestServer = () => import("../rest/server.ts");

/** What the thread of the servers does, by order of the main thread. */
export class Serving {
  readonly #outbox: ThreadOutbox<ToMain>;
  readonly #logger: Logger;
  readonly #streams: RemoteStreams;
  readonly #feeds: RemoteFeeds;
  readonly #servers = new Map<ServerName, HttpServer>();
  #calls: RemoteCalls | undefined;
  #measuring: { tallies: CallTallies; delay: EventLoopDelay } | undefined;

  constructor(outbox: ThreadOutbox<ToMain>) {
    this.#outbox = outbox;
    this.#logger = createThreadLogger(outbox);
    this.#streams = new RemoteStreams(outbox);
    this.#feeds = new RemoteFeeds(outbox);
  }

  readonly handlers: Handlers<ToThread> = {
    serve: (order) => void this.#serve(order),
    answer: (...answer) => this.#calls?.answer(...answer),
    "rest answer": (...answer) => this.#calls?.answerRequest(...answer),
    thrown: (id, thrown) => this.#calls?.fail(id, receiveThrown(thrown)),
    subscribe: (...asked) => this.#calls?.subscribe(...asked),
    unsubscribe: (...asked) => this.#calls?.unsubscribe(...asked),
    chunk: (stream, bytes) => this.#streams.add(stream, bytes),
    end: (stream) => this.#streams.end(stream),
    break: (stream, thrown) => this.#streams.end(stream, receiveThrown(thrown)),
    following: (feed) => this.#feeds.following(feed),
    event: (feed, topic, data) => this.#feeds.deliver(feed, { topic, data: received(data) }),
    "cut off": (feed) => this.#feeds.cutOff(feed),
    report: () => {
      this.#report();
      this.#measuring?.delay.reset();
    },
    close: () => void this.#close(),
  };

  async #serve(order: ServingOrder): Promise<void> {
    const { methods, routes, listen, pages, limits, revision, isMeasured, isLogged } = order;
    const calls = new RemoteCalls({ outbox: this.#outbox, streams: this.#streams, feeds: this.#feeds, revision });
    this.#calls = calls;
    const observer = isMeasured ? this.#measure() : undefined;
    const accessLog = isLogged ? new AccessLog((lines) => this.#outbox.send(["access", lines])) : undefined;
    const urls: { [Name in ServerName]?: string } = {};
    for (const name of SERVER_NAMES) {
      const options = listen[name];
      if (options === undefined) continue;
      const { access } = options;
      const server =
        name === "json-rpc"
          ? createJsonRpcServer({
              table: methodTable(methods, calls),
              limits,
              access,
              observer,
              accessLog,
              pages,
              logger: this.#logger.topic("rpc"),
            })
          : (await loadRestServer()).createRestServer({
              table: routeTable(routes, calls),
              limits,
              access,
              observer,
              accessLog,
              logger: this.#logger.topic("rest"),
            });
      try {
        urls[name] = (await server.listen(options)).url;
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        this.#outbox.send(["cannot listen", name, { message, code }]);
        return;
      }
      this.#servers.set(name, server);
    }
    this.#outbox.send(["listening", urls]);
  }

  #measure(): CallTallies {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const tallies = new CallTallies();
    this.#measuring = { tallies, delay };
    setInterval(() => this.#report(), REPORT_MILLIS).unref();
    return tallies;
  }

  #report(): void {
    if (!this.#measuring) return;
    const { tallies, delay } = this.#measuring;
    const loads = Object.fromEntries(Array.from(this.#servers, ([name, server]) => [name, server.load()]));
    this.#outbox.send(["report", { loads, calls: tallies.take(), lag: lagOf(delay) }]);
  }

  async #close(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (server) => server.close()));
    this.#outbox.send(["closed"]);
  }
}

function methodTable(facts: readonly MethodFacts[], calls: RemoteCalls): MethodTable {
  const byName = new Map<string, Method>();
  facts.forEach(({ calledBy, ...method }, position) => {
    byName.set(calledBy, {
      ...method,
      call: (params, caller, waiting) => calls.call(position, method, params, caller, waiting),
      callByMessage: (message, caller, waiting) => calls.callByMessage(position, message, caller, waiting),
    });
  });
  return {
    find: (name) => byName.get(name),
    suggest: (name) => nearestName(name, byName.keys()),
  };
}

function routeTable(facts: readonly RouteFacts[], calls: RemoteCalls): RouteTable {
  return facts.map((route, position) => ({
    ...route,
    handle: (request) => calls.request(position, route, request),
  }));
}

function lagOf(delay: EventLoopDelay): EventLoopLag {
  const seconds = (nanoseconds: number) => nanoseconds / 1e9;
  return { p50: seconds(delay.percentile(50)), p99: seconds(delay.percentile(99)), max: seconds(delay.max) };
}
