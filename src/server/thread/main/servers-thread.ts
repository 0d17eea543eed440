import type { Logger } from "../../../log/logger.ts";
import { writeRecord } from "../../../log/thread-logger.ts";
import type { Handlers } from "../../../threads/messages.ts";
import { ThreadOutbox } from "../../../threads/outbox.ts";
import { onThreadDeath, startThread } from "../../../threads/thread.ts";
import type { Movable } from "../../../threads/transfer.ts";
import type { CallStats } from "../../call-stats.ts";
import type { WriteLines } from "../../http/access-log.ts";
import type { StaticFilePaths } from "../../http/response/static-files.ts";
import type { ServerLoad } from "../../http/server.ts";
import type { JsonRpcLimits } from "../../jsonrpc/limits.ts";
import type { LaneLoad } from "../../lane.ts";
import { ListenError } from "../../listen-error.ts";
import type { ListedMethodTable } from "../../method-table.ts";
import type { RouteTable } from "../../rest/route-table.ts";
import type { MethodConnection, MethodThread } from "../direct/method-thread.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import { ThreadInbox } from "../messages/inbox.ts";
import type {
  EventLoopLag,
  ListenOptions,
  MethodInfo,
  PublishedRevision,
  RouteInfo,
  ServerName,
  ThreadReport,
  ToMain,
  ToThread,
} from "../messages/protocol.ts";
import { CallService } from "./call-service.ts";
import { FeedSender, type FindFeed } from "./feed-sender.ts";
import { StreamSender } from "./stream-sender.ts";

/** The methods, routes and feeds to be served. */
export interface ServedApi {
  methods: ListedMethodTable;
  /** Omitted if there is no REST server. */
  routes?: RouteTable;
  feed: FindFeed;
  revision: PublishedRevision;
  /** Thread that answers calls of some methods. */
  methodThread?: MethodThread | undefined;
}

export interface ServingOptions {
  listen: { [Name in ServerName]?: ListenOptions };
  pages?: StaticFilePaths;
  limits?: Partial<JsonRpcLimits>;
  /** Receives call statistics. Omitted if there are no metrics. */
  observe?(calls: readonly CallStats[]): void;
  /** Receives lines for the access log. Omitted if there is none. */
  writeAccess?: WriteLines | undefined;
}

/** The thread's start-up data. */
export interface ThreadData {
  servesRest: boolean;
}

/** The part of a worker that is used here. */
export interface ServerWorker {
  postMessage(messages: readonly ToThread[], transferred: readonly Movable[]): void;
  on(event: "message", listener: (messages: ToMain[]) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
}

function startServers(workerData: ThreadData): ServerWorker {
  return startThread("../worker/worker", import.meta.url, { workerData });
}

/**
 * Runs the JSON-RPC and REST servers in a worker thread, so that they are not blocked by state transitions and garbage
 * collection in the main thread. The methods run in the main thread.
 */
export class ServersThread {
  readonly #logger: Logger;
  readonly #worker: ServerWorker;
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #streams: StreamSender;
  readonly #failure = Promise.withResolvers<Error>();
  readonly #listening = Promise.withResolvers<{ [Name in ServerName]?: string }>();
  readonly #closed = Promise.withResolvers<void>();
  #service: { calls: CallService; feeds: FeedSender; observe?: ServingOptions["observe"] } | undefined;
  #revision: PublishedRevision | undefined;
  #methodThread: MethodThread | undefined;
  /** The latest connection to the method thread. */
  #connection: { number: number; replace: MethodConnection["replace"] } | undefined;
  #writeAccess: WriteLines | undefined;
  #report: ThreadReport | undefined;
  /** Resolve functions of callers waiting for the next report. */
  #reportWaiters: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  /** Starts the thread, which loads its modules in parallel. */
  constructor(logger: Logger, workerData: ThreadData, startWorker = startServers) {
    this.#logger = logger;
    this.#worker = startWorker(workerData);
    this.#outbox = new ThreadOutbox(this.#worker, () => {
      this.#revision?.publish();
      this.#methodThread?.publish();
    });
    this.#streams = new StreamSender(this.#outbox);
    const inbox = new ThreadInbox(this.#handlers);
    this.#worker.on("message", (messages) => inbox.receive(messages));
    onThreadDeath(this.#worker, (error) => this.#fail(error));
    // Prevents an unhandled rejection if no server is started.
    this.#listening.promise.catch(() => {});
  }

  /** Resolves with the error if the thread ends unexpectedly. */
  get failed(): Promise<Error> {
    return this.#failure.promise;
  }

  /** The servers' loads according to the last report. */
  get loads(): Iterable<[ServerName, ServerLoad]> {
    return Object.entries(this.#report?.loads ?? {}) as [ServerName, ServerLoad][];
  }

  get lag(): EventLoopLag | undefined {
    return this.#report?.lag;
  }

  /** Load from the calls that the method thread answers. */
  get directLoad(): LaneLoad | undefined {
    return this.#report?.direct;
  }

  /** Starts the servers and returns their URLs. */
  serve(
    { methods, routes = [], feed, revision, methodThread }: ServedApi,
    { listen, pages, limits, observe, writeAccess }: ServingOptions,
  ): Promise<{ [Name in ServerName]?: string }> {
    const entries = [...methods.entries()];
    this.#revision = revision;
    this.#methodThread = methodThread;
    const targets = { methods: entries.map(([, method]) => method), routes, revision };
    this.#service = {
      calls: new CallService(targets, this.#outbox, this.#streams),
      feeds: new FeedSender(this.#outbox, feed),
      observe,
    };
    const methodInfos = entries.map(
      ([calledBy, { name, cost, access, takesLargeBody, isCacheable = false, elementOf }]): MethodInfo => ({
        calledBy,
        name,
        cost,
        access,
        takesLargeBody,
        isCacheable,
        listedBy: positionOf(entries, ([name]) => name === elementOf),
      }),
    );
    const routeInfos = routes.map(
      ({ handle: _, cachePolicy: __, elementOf, ...route }): RouteInfo => ({
        ...route,
        listedBy: positionOf(routes, ({ method, verb }) => method === elementOf && verb === "GET"),
      }),
    );
    const isMeasured = observe !== undefined;
    const isLogged = writeAccess !== undefined;
    this.#writeAccess = writeAccess;
    const command = {
      methods: methodInfos,
      routes: routeInfos,
      listen,
      pages,
      limits,
      revision: revision.memory,
      direct: methodThread?.methods,
      isMeasured,
      isLogged,
    };
    this.#outbox.send(["serve", command]);
    methodThread?.onConnection((connection) => this.#connect(connection));
    return this.#listening.promise;
  }

  #connect({ port, replace }: MethodConnection): void {
    const number = (this.#connection?.number ?? 0) + 1;
    this.#connection = { number, replace };
    this.#outbox.send(["connect", number, port], port);
  }

  /** Requests a report, which updates `loads` and `lag`. */
  refresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#reportWaiters.push(resolve);
      this.#outbox.send(["report"]);
    });
  }

  /** Waits for running calls, and then closes all servers and ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#service) {
      this.#outbox.send(["close"]);
      await this.#closed.promise;
    }
    await this.#worker.terminate();
    this.#end(new Error("The servers are closed."));
  }

  readonly #handlers: Handlers<ToMain> = {
    call: (...call) => this.#service?.calls.call(...call),
    "large call": (...call) => this.#service?.calls.callLarge(...call),
    request: (...request) => this.#service?.calls.request(...request),
    "prewarm call": (...call) => this.#service?.calls.prewarmCall(...call),
    "prewarm request": (...request) => this.#service?.calls.prewarmRequest(...request),
    "stop prewarming": (id) => this.#service?.calls.stopPrewarming(id),
    cancel: (id, reason) => this.#service?.calls.cancel(id, SERVER_ERRORS.deserialize(reason)),
    outcome: (...outcome) => this.#service?.calls.settle(...outcome),
    pull: (...pulled) => this.#streams.pull(...pulled),
    release: (stream) => this.#streams.release(stream),
    follow: (...followed) => this.#service?.feeds.follow(...followed),
    readers: (...counted) => this.#service?.feeds.countReaders(...counted),
    unfollow: (feed) => this.#service?.feeds.unfollow(feed),
    log: (...record) => writeRecord(this.#logger, ["log", ...record]),
    access: (lines) => this.#writeAccess?.(lines),
    listening: (urls) => this.#listening.resolve(urls),
    "cannot listen": (server, error) => this.#listening.reject(new ListenError(server, error)),
    report: (report) => this.#receiveReport(report),
    stuck: (connection, method) => {
      if (connection === this.#connection?.number) this.#connection.replace(method);
    },
    closed: () => this.#closed.resolve(),
  };

  #receiveReport(report: ThreadReport): void {
    this.#service?.observe?.(report.calls);
    this.#report = report;
    for (const resolve of this.#reportWaiters.splice(0)) resolve();
  }

  #fail(cause: unknown): void {
    this.#closed.resolve();
    if (this.#closing) return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const failure = new Error(`The server thread ended unexpectedly: ${reason}`, {
      cause,
    });
    this.#failure.resolve(failure);
    this.#listening.reject(failure);
    this.#end(failure);
  }

  /** Cancels everything that is in progress for the thread. */
  #end(reason: Error): void {
    this.#service?.calls.close(reason);
    this.#service?.feeds.close();
    this.#streams.close();
    for (const resolve of this.#reportWaiters.splice(0)) resolve();
  }
}

function positionOf<T>(items: readonly T[], isWanted: (item: T) => boolean): number | undefined {
  const position = items.findIndex(isWanted);
  return position < 0 ? undefined : position;
}
