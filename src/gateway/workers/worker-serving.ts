import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { ListenError } from "../../server/listen-error.ts";
import type { ThreadOutbox } from "../../server/thread/outbox.ts";
import { received } from "../../server/thread/passed-bytes.ts";
import type { Handlers } from "../../server/thread/protocol.ts";
import { createThreadLogger } from "../../server/thread/thread-logger.ts";
import { EventFeeds } from "../events/event-feeds.ts";
import { GatewayServing, type ServerName } from "../serving.ts";
import { Bonds } from "../upstream/bonds.ts";
import { oncePerTurn } from "./once-per-turn.ts";
import type { ToPrimary, ToWorker, WorkerOrder } from "./protocol.ts";
import { RemoteConditions } from "./remote-conditions.ts";

/** How often what was observed is told although nobody asks, so that it does not grow. */
const REPORT_MILLIS = 1000;

/** What a worker does, by order of the primary process. */
export class WorkerServing {
  readonly #outbox: ThreadOutbox<ToPrimary>;
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #bonds: Bonds;
  #conditions: RemoteConditions | undefined;
  #events: EventFeeds | undefined;
  #serving: GatewayServing | undefined;

  constructor(outbox: ThreadOutbox<ToPrimary>, timers: Timers = SYSTEM_TIMERS) {
    this.#outbox = outbox;
    this.#timers = timers;
    this.#logger = createThreadLogger(outbox);
    this.#bonds = new Bonds((bond, upstream) => outbox.send(["tied", bond, upstream]));
  }

  readonly handlers: Handlers<ToWorker> = {
    serve: (order) => void this.#serve(order),
    conditions: (conditions) => this.#conditions?.replace(conditions),
    floor: (slot, isLetGo) => this.#conditions?.takeFloor(slot, isLetGo),
    rewinds: (count) => this.#conditions?.takeRewinds(count),
    tied: (bond, upstream) => this.#bonds.learn(bond, upstream),
    event: (topic, data) => this.#events?.tell({ topic, data: received(data) }),
    "cut off": () => this.#events?.cutOff(),
    report: () => this.#report(),
    drain: () => this.#serving?.drain(),
    close: () => void this.#close(),
  };

  /** Rejects for what nobody foresaw, which ends the process. */
  async #serve({ options, facts, served, isMeasured, isLogged, ...known }: WorkerOrder): Promise<void> {
    const conditions = new RemoteConditions(
      known,
      oncePerTurn(() => this.#outbox.send(["raise floor", conditions.floor])),
    );
    const events = new EventFeeds({
      conditions,
      onTopics: oncePerTurn(() => this.#outbox.send(["follow", [...events.topics]])),
    });
    this.#conditions = conditions;
    this.#events = events;
    try {
      this.#serving = await GatewayServing.open({
        options,
        facts,
        conditions,
        events,
        onSuspect: (upstream, reason) => this.#outbox.send(["suspect", upstream, reason]),
        bonds: this.#bonds,
        served,
        isMeasured,
        writeAccess: isLogged ? (lines) => this.#outbox.send(["access", lines]) : undefined,
        timers: this.#timers,
        logger: this.#logger,
      });
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      const { server, message, code } = error;
      this.#outbox.send(["cannot listen", server as ServerName, { message, code }]);
      return;
    }
    if (isMeasured) this.#timers.every(REPORT_MILLIS, () => this.#report());
    this.#outbox.send(["listening", this.#serving.urls]);
  }

  #report(): void {
    if (!this.#serving || !this.#events) return;
    this.#outbox.send(["report", { ...this.#serving.report(), readers: [...this.#events.readers] }]);
  }

  async #close(): Promise<void> {
    await this.#serving?.close();
    this.#report();
    this.#outbox.send(["closed"]);
  }
}
