import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { createThreadLogger } from "../../log/thread-logger.ts";
import { ListenError } from "../../server/listen-error.ts";
import type { Handlers } from "../../threads/messages.ts";
import type { ThreadOutbox } from "../../threads/outbox.ts";
import { receiveBytes } from "../../threads/transferred-bytes.ts";
import { EventPublisher } from "../events/event-publisher.ts";
import { GatewayServer } from "../gateway-server.ts";
import type { ServerName } from "../metrics/server-report.ts";
import type { GatewaySettings } from "../settings.ts";
import { StickyRoutes } from "../upstream/selection/sticky-routes.ts";
import { coalesce } from "./coalesce.ts";
import type { ToPrimary, ToWorker, WorkerConfig } from "./protocol.ts";
import { RemoteBudgetStore } from "./remote-budget-store.ts";
import { RemoteHealth } from "./remote-health.ts";

/** Interval of unrequested reports, so that counters do not grow without a scrape. */
const REPORT_INTERVAL_MILLIS = 1000;

/** Runs the servers of a worker and handles messages of the primary process. */
export class WorkerRuntime {
  readonly #outbox: ThreadOutbox<ToPrimary>;
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #stickyRoutes: StickyRoutes;
  readonly #budgetStore: RemoteBudgetStore;
  #health: RemoteHealth | undefined;
  #events: EventPublisher | undefined;
  #server: GatewayServer | undefined;
  /** Settings that replace those of the start, possibly before the servers are open. */
  #reloaded: GatewaySettings | undefined;

  constructor(outbox: ThreadOutbox<ToPrimary>, timers: Timers = SYSTEM_TIMERS) {
    this.#outbox = outbox;
    this.#timers = timers;
    this.#logger = createThreadLogger(outbox);
    this.#budgetStore = new RemoteBudgetStore((...count) => outbox.send(["count", ...count]));
    this.#stickyRoutes = new StickyRoutes((routeKey, upstream) => outbox.send(["pinned", routeKey, upstream]));
  }

  readonly handlers: Handlers<ToWorker> = {
    serve: (config) => void this.#serve(config),
    health: (health) => this.#health?.updateHealth(health),
    headFloor: (slot, isLowered) => this.#health?.updateHeadFloor(slot, isLowered),
    finalityReverts: (count) => this.#health?.updateFinalityReverts(count),
    pinned: (routeKey, upstream) => this.#stickyRoutes.applyRemote(routeKey, upstream),
    event: (topic, data) => this.#events?.publish({ topic, data: receiveBytes(data) }),
    "cut off": () => this.#events?.cutOff(),
    report: () => this.#report(),
    reload: (settings) => {
      this.#reloaded = settings;
      this.#server?.reload(settings);
      this.#outbox.send(["reloaded"]);
    },
    counted: (id, total) => this.#budgetStore.onCounted(id, total),
    drain: () => this.#server?.drain(),
    close: () => void this.#close(),
  };

  /** Rejects for unexpected errors, which end the process. */
  async #serve({
    settings,
    chainSpec,
    servers,
    hasMetrics,
    hasAccessLog,
    ...healthSnapshot
  }: WorkerConfig): Promise<void> {
    const health = new RemoteHealth(
      healthSnapshot,
      coalesce(() => this.#outbox.send(["raise head floor", health.headFloor])),
    );
    const events = new EventPublisher({
      health,
      onTopics: coalesce(() => this.#outbox.send(["subscribe", [...events.topics]])),
    });
    this.#health = health;
    this.#events = events;
    try {
      this.#server = await GatewayServer.open({
        settings,
        chainSpec,
        health,
        events,
        onRepeatedFailure: (upstream, reason) => this.#outbox.send(["failing", upstream, reason]),
        stickyRoutes: this.#stickyRoutes,
        budgetStore: this.#budgetStore,
        servers,
        hasMetrics,
        writeAccessLog: hasAccessLog ? (lines) => this.#outbox.send(["access", lines]) : undefined,
        timers: this.#timers,
        logger: this.#logger,
      });
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      const { server, message, code } = error;
      this.#outbox.send(["cannot listen", server as ServerName, { message, code }]);
      return;
    }
    if (this.#reloaded) this.#server.reload(this.#reloaded);
    if (hasMetrics) this.#timers.every(REPORT_INTERVAL_MILLIS, () => this.#report());
    this.#outbox.send(["listening", this.#server.urls]);
  }

  #report(): void {
    if (!this.#server || !this.#events) return;
    this.#outbox.send(["report", { ...this.#server.report(), subscriberCounts: [...this.#events.subscriberCounts] }]);
  }

  async #close(): Promise<void> {
    await this.#server?.close();
    this.#report();
    this.#outbox.send(["closed"]);
  }
}
