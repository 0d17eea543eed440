import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "../../log/logger.ts";
import type { CallTally } from "../call-tallies.ts";
import type { WriteLines } from "../http/access-log.ts";
import type { PageFiles } from "../http/pages.ts";
import type { ServerLoad } from "../http/server.ts";
import type { JsonRpcLimits } from "../jsonrpc/limits.ts";
import { ListenError } from "../listen-error.ts";
import type { ListedMethodTable } from "../method-table.ts";
import type { RouteTable } from "../rest/route-table.ts";
import { CallService } from "./call-service.ts";
import { FeedSender, type FindFeed } from "./feed-sender.ts";
import { ThreadInbox } from "./inbox.ts";
import { ThreadOutbox } from "./outbox.ts";
import type {
  EventLoopLag,
  Handlers,
  ListenOptions,
  MethodFacts,
  PublishedRevision,
  RouteFacts,
  ServerName,
  ThreadReport,
  ToMain,
  ToThread,
} from "./protocol.ts";
import { StreamSender } from "./stream-sender.ts";
import { receiveThrown } from "./thrown.ts";

/** Compiled as this file is, or not: the compiler does not rewrite paths that are no imports. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** What the servers can be asked. */
export interface Served {
  methods: ListedMethodTable;
  /** Left out when there is no REST server. */
  routes?: RouteTable;
  feed: FindFeed;
  revision: PublishedRevision;
}

export interface ServingOptions {
  listen: { [Name in ServerName]?: ListenOptions };
  pages?: PageFiles;
  limits?: Partial<JsonRpcLimits>;
  /** Is told what was observed of the calls; left out when nothing is measured. */
  observe?(calls: readonly CallTally[]): void;
  /** Gets the lines of the access log; left out when there is none. */
  writeAccess?: WriteLines | undefined;
}

/** What the thread is told when it begins. */
export interface ThreadData {
  servesRest: boolean;
}

/** The part of a worker that is used. */
export interface ServerWorker {
  postMessage(messages: readonly ToThread[], transferred: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (messages: ToMain[]) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
}

function startThread(workerData: ThreadData): ServerWorker {
  return new Worker(WORKER, { workerData });
}

/**
 * The JSON-RPC and REST servers in a thread of their own, so that neither a long state transition nor the garbage collection of
 * the chain's memory stops them. What they are asked is answered in this thread.
 */
export class ServersThread {
  readonly #logger: Logger;
  readonly #worker: ServerWorker;
  readonly #outbox: ThreadOutbox<ToThread>;
  readonly #streams: StreamSender;
  readonly #death = Promise.withResolvers<Error>();
  readonly #listening = Promise.withResolvers<{ [Name in ServerName]?: string }>();
  readonly #closed = Promise.withResolvers<void>();
  #service: { calls: CallService; feeds: FeedSender; observe?: ServingOptions["observe"] } | undefined;
  #revision: PublishedRevision | undefined;
  #writeAccess: WriteLines | undefined;
  #report: ThreadReport | undefined;
  /** Those who wait for the next report. */
  #awaiting: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  /** The thread loads what it needs, while this one does other things. */
  constructor(logger: Logger, workerData: ThreadData, startWorker = startThread) {
    this.#logger = logger;
    this.#worker = startWorker(workerData);
    this.#outbox = new ThreadOutbox(this.#worker, () => this.#revision?.publish());
    this.#streams = new StreamSender(this.#outbox);
    const inbox = new ThreadInbox(this.#handlers);
    this.#worker.on("message", (messages) => inbox.receive(messages));
    this.#worker.on("error", (error) => this.#die(error));
    this.#worker.on("exit", (code) => this.#die(new Error(`It ended with code ${code}.`)));
    // Whoever starts no server waits for none.
    this.#listening.promise.catch(() => {});
  }

  /** Resolves when the thread has ended although nobody closed it. */
  get failed(): Promise<Error> {
    return this.#death.promise;
  }

  /** As they were at the last report. */
  get loads(): Iterable<[ServerName, ServerLoad]> {
    return Object.entries(this.#report?.loads ?? {}) as [ServerName, ServerLoad][];
  }

  get lag(): EventLoopLag | undefined {
    return this.#report?.lag;
  }

  /** Starts the servers; gives the URLs at which they are reached. */
  serve(
    { methods, routes = [], feed, revision }: Served,
    { listen, pages, limits, observe, writeAccess }: ServingOptions,
  ): Promise<{ [Name in ServerName]?: string }> {
    const entries = [...methods.entries()];
    this.#revision = revision;
    const asked = { methods: entries.map(([, method]) => method), routes, revision };
    this.#service = {
      calls: new CallService(asked, this.#outbox, this.#streams),
      feeds: new FeedSender(this.#outbox, feed),
      observe,
    };
    const facts = entries.map(
      ([calledBy, { name, cost, access, takesLargeBody, isCacheable = false, elementOf }]): MethodFacts => ({
        calledBy,
        name,
        cost,
        access,
        takesLargeBody,
        isCacheable,
        listedBy: positionOf(entries, ([name]) => name === elementOf),
      }),
    );
    const routeFacts = routes.map(
      ({ handle: _, cachePolicy: __, elementOf, ...route }): RouteFacts => ({
        ...route,
        listedBy: positionOf(routes, ({ method, verb }) => method === elementOf && verb === "GET"),
      }),
    );
    const isMeasured = observe !== undefined;
    const isLogged = writeAccess !== undefined;
    this.#writeAccess = writeAccess;
    const order = {
      methods: facts,
      routes: routeFacts,
      listen,
      pages,
      limits,
      revision: revision.memory,
      isMeasured,
      isLogged,
    };
    this.#outbox.send(["serve", order]);
    return this.#listening.promise;
  }

  /** Asks for a report, which `loads` and `lag` are from. */
  refresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#awaiting.push(resolve);
      this.#outbox.send(["report"]);
    });
  }

  /** Lets running calls finish, as each server does. */
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
    message: (...message) => this.#service?.calls.message(...message),
    request: (...request) => this.#service?.calls.request(...request),
    "renew call": (...call) => this.#service?.calls.renewCall(...call),
    "renew request": (...request) => this.#service?.calls.renewRequest(...request),
    "renew no more": (id) => this.#service?.calls.renewNoMore(id),
    cancel: (id, reason) => this.#service?.calls.cancel(id, receiveThrown(reason)),
    outcome: (...outcome) => this.#service?.calls.settle(...outcome),
    pull: (...pulled) => this.#streams.pull(...pulled),
    release: (stream) => this.#streams.release(stream),
    follow: (...followed) => this.#service?.feeds.follow(...followed),
    readers: (...counted) => this.#service?.feeds.countReaders(...counted),
    unfollow: (feed) => this.#service?.feeds.unfollow(feed),
    log: (topic, level, message, fields) =>
      (topic === undefined ? this.#logger : this.#logger.topic(topic))[level](message, fields),
    access: (lines) => this.#writeAccess?.(lines),
    listening: (urls) => this.#listening.resolve(urls),
    "cannot listen": (server, error) => this.#listening.reject(new ListenError(server, error)),
    report: (report) => this.#take(report),
    closed: () => this.#closed.resolve(),
  };

  #take(report: ThreadReport): void {
    this.#service?.observe?.(report.calls);
    this.#report = report;
    for (const resolve of this.#awaiting.splice(0)) resolve();
  }

  #die(cause: unknown): void {
    this.#closed.resolve();
    if (this.#closing) return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const death = new Error(`The thread of the servers has ended, so that nobody can reach the node: ${reason}`, {
      cause,
    });
    this.#death.resolve(death);
    this.#listening.reject(death);
    this.#end(death);
  }

  /** Gives up whatever was done for the thread. */
  #end(reason: Error): void {
    this.#service?.calls.close(reason);
    this.#service?.feeds.close();
    this.#streams.close();
    for (const resolve of this.#awaiting.splice(0)) resolve();
  }
}

function positionOf<T>(items: readonly T[], isWanted: (item: T) => boolean): number | undefined {
  const position = items.findIndex(isWanted);
  return position < 0 ? undefined : position;
}
