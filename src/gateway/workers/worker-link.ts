import type { EventReader } from "../../server/events/feed.ts";
import { ListenError } from "../../server/listen-error.ts";
import { ThreadOutbox } from "../../server/thread/outbox.ts";
import { handle } from "../../server/thread/protocol.ts";
import type { Condition } from "../condition.ts";
import { CHANGING_TOPICS } from "../events/event-feeds.ts";
import type { GatewayEvents } from "../events.ts";
import type { ServedUrls } from "../serving.ts";
import type { Bond } from "../upstream/bonds.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import type { ToPrimary, ToWorker, WorkerOrder, WorkerReport } from "./protocol.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** What is done about what a worker tells, beyond itself. */
export interface WorkerOffice {
  readonly events: Pick<GatewayEvents, "feed">;
  raiseFloor(by: WorkerLink, slot: number): void;
  suspect(upstream: string, reason: string): void;
  /** The other workers are to know of it. */
  tied(by: WorkerLink, bond: Bond, upstream: string): void;
  log(...record: LogFields): void;
  writeAccess(lines: string): void;
  /** What it has observed since its last report. */
  observe(report: Pick<WorkerReport, "calls"> & Partial<WorkerReport>): void;
}

type LogFields = Extract<ToPrimary, [kind: "log", ...unknown[]]> extends [unknown, ...infer Fields] ? Fields : never;

/** One worker, from its start to its end, as the primary process sees it. */
export class WorkerLink {
  /** Resolves with the URLs when it serves; rejects when it cannot listen, or has ended before. */
  readonly listening: Promise<ServedUrls>;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  readonly #process: WorkerProcess;
  readonly #outbox: ThreadOutbox<ToWorker>;
  readonly #office: WorkerOffice;
  readonly #closed = Promise.withResolvers<void>();
  /** Those who wait for its next report. */
  #awaiting: (() => void)[] = [];
  readonly #underWay = new CallsUnderWay();
  #report: WorkerReport | undefined;
  #isServing = false;
  #followed: readonly string[] = [];
  #endFeed = () => {};

  constructor(process: WorkerProcess, order: WorkerOrder, office: WorkerOffice) {
    this.#process = process;
    this.#office = office;
    this.#outbox = new ThreadOutbox(process);
    const listening = Promise.withResolvers<ServedUrls>();
    const ended = Promise.withResolvers<string>();
    this.listening = listening.promise;
    this.ended = ended.promise;
    // Whoever replaces a worker waits for its end alone.
    this.listening.catch(() => {});
    process.onMessage((messages) =>
      handle<ToPrimary>(
        {
          listening: (urls) => {
            this.#isServing = true;
            listening.resolve(urls);
          },
          "cannot listen": (server, error) => listening.reject(new ListenError(server, error)),
          "raise floor": (slot) => office.raiseFloor(this, slot),
          suspect: (...suspicion) => office.suspect(...suspicion),
          tied: (...tie) => office.tied(this, ...tie),
          follow: (topics) => this.#follow(topics),
          log: (...record) => office.log(...record),
          access: (lines) => office.writeAccess(lines),
          report: (report) => this.#take(report),
          closed: () => this.#closed.resolve(),
        },
        messages,
      ),
    );
    process.onExit(({ code, signal }) => {
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      this.#endFeed();
      office.observe({ calls: this.#underWay.endAll() });
      this.#closed.resolve();
      for (const resolve of this.#awaiting.splice(0)) resolve();
      listening.reject(new Error(`A worker ended ${how} before it served.`));
      ended.resolve(how);
    });
    this.#follow([]);
    this.#outbox.send(["serve", order]);
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** What its servers had under way when it last reported. */
  get loads(): WorkerReport["loads"] {
    return this.#report?.loads ?? [];
  }

  /** How many read events there, by topic. */
  get readers(): WorkerReport["readers"] {
    return this.#report?.readers ?? [];
  }

  tellConditions(conditions: readonly Condition[]): void {
    this.#outbox.send(["conditions", conditions]);
  }

  tellFloor(slot: number, isLetGo: boolean): void {
    this.#outbox.send(["floor", slot, isLetGo]);
  }

  tellRewinds(count: number): void {
    this.#outbox.send(["rewinds", count]);
  }

  tellTied(bond: Bond, upstream: string): void {
    this.#outbox.send(["tied", bond, upstream]);
  }

  /** Asks for a report; resolves when it is there, or never will be. */
  refresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#awaiting.push(resolve);
      this.#outbox.send(["report"]);
    });
  }

  drain(): void {
    this.#outbox.send(["drain"]);
  }

  /** Lets it finish what it does for its clients, and end. */
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

  /** Ends it without waiting for anything. */
  kill(): void {
    this.#process.kill();
  }

  #follow(read: readonly string[]): void {
    // What changes the head is told to all workers, whose kept answers depend on it.
    const topics = [...new Set([...CHANGING_TOPICS, ...read])].sort();
    if (topics.join() === this.#followed.join()) return;
    this.#followed = topics;
    const endBefore = this.#endFeed;
    const reader: EventReader = {
      deliver: ({ topic, data }) => this.#outbox.send(["event", topic, data]),
      cutOff: () => this.#outbox.send(["cut off"]),
    };
    this.#endFeed = this.#office.events.feed(topics).open(reader);
    endBefore();
  }

  #take(report: WorkerReport): void {
    this.#report = report;
    this.#underWay.count(report.calls);
    this.#office.observe(report);
    for (const resolve of this.#awaiting.splice(0)) resolve();
  }
}
