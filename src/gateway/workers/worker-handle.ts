import type { EventReader } from "../../server/events/feed.ts";
import { ListenError } from "../../server/listen-error.ts";
import { dispatchAll } from "../../threads/messages.ts";
import { ThreadOutbox } from "../../threads/outbox.ts";
import type { BudgetStore } from "../clients/budget-store.ts";
import { HEAD_CHANGE_TOPICS } from "../events/event-publisher.ts";
import type { GatewayEvents } from "../events/gateway-events.ts";
import type { ServerUrls } from "../gateway-server.ts";
import type { GatewaySettings } from "../settings.ts";
import type { RouteKey } from "../upstream/selection/sticky-routes.ts";
import type { UpstreamHealth } from "../upstream/upstream-health.ts";
import { PendingCalls } from "./pending-calls.ts";
import type { ToPrimary, ToWorker, WorkerConfig, WorkerReport } from "./protocol.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Handles the messages of a worker. */
export interface WorkerHandlers {
  readonly events: Pick<GatewayEvents, "feed">;
  readonly budgetStore: Pick<BudgetStore, "add">;
  raiseHeadFloor(by: WorkerHandle, slot: number): void;
  onRepeatedFailure(upstream: string, reason: string): void;
  /** Forwards a sticky route to the other workers. */
  pinned(by: WorkerHandle, routeKey: RouteKey, upstream: string): void;
  log(...record: LogFields): void;
  writeAccessLog(lines: string): void;
  /** Receives the counts since the last report. */
  onReport(report: Pick<WorkerReport, "calls"> & Partial<WorkerReport>): void;
}

type LogFields = Extract<ToPrimary, [kind: "log", ...unknown[]]> extends [unknown, ...infer Fields] ? Fields : never;

/** One worker process, as seen by the primary. */
export class WorkerHandle {
  /** Resolves with the URLs when it serves. Rejects if it cannot listen or exits before. */
  readonly listening: Promise<ServerUrls>;
  /** Resolves with the cause of its exit. */
  readonly ended: Promise<string>;
  readonly #process: WorkerProcess;
  readonly #outbox: ThreadOutbox<ToWorker>;
  readonly #handlers: WorkerHandlers;
  readonly #closed = Promise.withResolvers<void>();
  /** Resolved by the next report. */
  #reportWaiters: (() => void)[] = [];
  /** Reloads that the worker has not confirmed, in order. */
  readonly #reloadWaiters: (() => void)[] = [];
  readonly #pendingCalls = new PendingCalls();
  #report: WorkerReport | undefined;
  #isServing = false;
  #topics: readonly string[] = [];
  #closeFeed = () => {};

  constructor(process: WorkerProcess, config: WorkerConfig, handlers: WorkerHandlers) {
    this.#process = process;
    this.#handlers = handlers;
    this.#outbox = new ThreadOutbox(process);
    const listening = Promise.withResolvers<ServerUrls>();
    const ended = Promise.withResolvers<string>();
    this.listening = listening.promise;
    this.ended = ended.promise;
    // The supervisor waits only for the exit.
    this.listening.catch(() => {});
    process.onMessage((messages) =>
      dispatchAll<ToPrimary>(
        {
          listening: (urls) => {
            this.#isServing = true;
            listening.resolve(urls);
          },
          "cannot listen": (server, error) => listening.reject(new ListenError(server, error)),
          "raise head floor": (slot) => handlers.raiseHeadFloor(this, slot),
          failing: (...failure) => handlers.onRepeatedFailure(...failure),
          pinned: (...pinned) => handlers.pinned(this, ...pinned),
          subscribe: (topics) => this.#subscribe(topics),
          log: (...record) => handlers.log(...record),
          access: (lines) => handlers.writeAccessLog(lines),
          count: (id, ...addition) =>
            void handlers.budgetStore.add(...addition).then((total) => this.#outbox.send(["counted", id, total])),
          report: (report) => this.#onReport(report),
          reloaded: () => this.#reloadWaiters.shift()?.(),
          closed: () => this.#closed.resolve(),
        },
        messages,
      ),
    );
    process.onExit(({ code, signal }) => {
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      this.#closeFeed();
      handlers.onReport({ calls: this.#pendingCalls.cancelAll() });
      this.#closed.resolve();
      for (const resolve of [...this.#reportWaiters.splice(0), ...this.#reloadWaiters.splice(0)]) resolve();
      listening.reject(new Error(`A worker exited ${how} before it served.`));
      ended.resolve(how);
    });
    this.#subscribe([]);
    this.#outbox.send(["serve", config]);
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Server loads of its last report. */
  get loads(): WorkerReport["loads"] {
    return this.#report?.loads ?? [];
  }

  /** Event subscribers of its last report, by topic. */
  get subscriberCounts(): WorkerReport["subscriberCounts"] {
    return this.#report?.subscriberCounts ?? [];
  }

  sendHealth(health: readonly UpstreamHealth[]): void {
    this.#outbox.send(["health", health]);
  }

  sendHeadFloor(slot: number, isLowered: boolean): void {
    this.#outbox.send(["headFloor", slot, isLowered]);
  }

  sendFinalityReverts(count: number): void {
    this.#outbox.send(["finalityReverts", count]);
  }

  sendPinned(routeKey: RouteKey, upstream: string): void {
    this.#outbox.send(["pinned", routeKey, upstream]);
  }

  /** Applies changed settings. Resolves when the worker serves with them or exits. */
  reload(settings: GatewaySettings): Promise<void> {
    return new Promise((resolve) => {
      this.#reloadWaiters.push(resolve);
      this.#outbox.send(["reload", settings]);
    });
  }

  /** Requests a report. Resolves when it arrives or the worker exits. */
  refresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#reportWaiters.push(resolve);
      this.#outbox.send(["report"]);
    });
  }

  drain(): void {
    this.#outbox.send(["drain"]);
  }

  /** Waits for running calls, then ends the process. */
  async close(): Promise<void> {
    if (this.#isServing) {
      this.#outbox.send(["close"]);
      await this.#closed.promise;
      this.#process.release();
    } else {
      this.kill();
    }
    await this.ended;
  }

  /** Kills the process. */
  kill(): void {
    this.#process.kill();
  }

  #subscribe(read: readonly string[]): void {
    // Workers always get head changes, on which their cached answers depend.
    const topics = [...new Set([...HEAD_CHANGE_TOPICS, ...read])].sort();
    if (topics.join() === this.#topics.join()) return;
    this.#topics = topics;
    const endBefore = this.#closeFeed;
    const reader: EventReader = {
      deliver: ({ topic, data }) => this.#outbox.send(["event", topic, data]),
      disconnect: () => this.#outbox.send(["cut off"]),
    };
    this.#closeFeed = this.#handlers.events.feed(topics).open(reader);
    endBefore();
  }

  #onReport(report: WorkerReport): void {
    this.#report = report;
    this.#pendingCalls.count(report.calls);
    this.#handlers.onReport(report);
    for (const resolve of this.#reportWaiters.splice(0)) resolve();
  }
}
