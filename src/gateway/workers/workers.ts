import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import type { ServerLoad } from "../../server/http/server.ts";
import type { Conditions } from "../condition.ts";
import type { ServingProcesses } from "../gateway-metrics.ts";
import type { ServedUrls } from "../serving.ts";
import { oncePerTurn } from "./once-per-turn.ts";
import type { WorkerOrder } from "./protocol.ts";
import { WorkerLink, type WorkerOffice } from "./worker-link.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

/** How long the place of a worker that ended stays empty, and the most that comes to when they end again and again. */
const FIRST_PAUSE_MILLIS = 100;
const MAX_PAUSE_MILLIS = 30_000;
/** A worker that has run for so long did not end for what it ended for the last time. */
const LASTING_MILLIS = 60_000;
/** How often it is looked whether the workers go on, and how long one may be busy with something else until it counts as stuck. */
const LOOK_MILLIS = 10_000;
const STUCK_MILLIS = 30_000;
/** What it has said is read by then, also after this process was halted itself. */
const READ_MILLIS = 1000;
/** How long the workers may take to tell what they have observed. */
const REPORT_LIMIT_MILLIS = 2000;

interface WorkersParts {
  count: number;
  order: Omit<WorkerOrder, "conditions" | "floor" | "rewinds">;
  conditions: Conditions;
  office: Omit<WorkerOffice, "raiseFloor" | "tied" | "log">;
  timers: Timers;
  logger: Logger;
  startProcess?: () => WorkerProcess;
}

/** The processes that serve. One that ends is replaced, and one that is stuck is ended. */
export class Workers implements ServingProcesses {
  readonly #parts: WorkersParts;
  readonly #office: WorkerOffice;
  readonly #startProcess: () => WorkerProcess;
  readonly #links = new Set<WorkerLink>();
  readonly #closing = new AbortController();
  readonly #endWatch: () => void;
  #toldFloor: number;
  #toldRewinds: number;
  #replaced = 0;

  /** Resolves when all of them serve. */
  static async start(parts: WorkersParts): Promise<{ workers: Workers; urls: ServedUrls }> {
    const workers = new Workers(parts);
    const links = Array.from({ length: parts.count }, () => workers.#start());
    try {
      const [urls = {}] = await Promise.all(links.map(({ listening }) => listening));
      for (const link of links) void workers.#keep(link);
      parts.logger.info("Workers serve", { pids: links.map(({ pid }) => pid).join() });
      return { workers, urls };
    } catch (error) {
      workers.#kill();
      throw error;
    }
  }

  private constructor(parts: WorkersParts) {
    this.#parts = parts;
    const { conditions, logger } = parts;
    this.#startProcess = parts.startProcess ?? startWorkerProcess;
    this.#office = {
      ...parts.office,
      raiseFloor: (by, slot) => {
        conditions.raiseFloor(slot);
        // A head that cannot be true raises nothing, and the worker is not to wait for it, either.
        if (conditions.floor < slot) by.tellFloor(conditions.floor, true);
      },
      tied: (by, ...tie) => {
        for (const link of this.#links) if (link !== by) link.tellTied(...tie);
      },
      log: (topic, level, message, fields) =>
        (topic === undefined ? logger : logger.topic(topic))[level](message, fields),
    };
    this.#toldFloor = conditions.floor;
    this.#toldRewinds = conditions.rewinds;
    const tellConditions = oncePerTurn(() => {
      for (const link of this.#links) link.tellConditions(conditions.all);
    });
    const endTelling = conditions.onChange(() => {
      tellConditions();
      this.#tellFloor();
      this.#tellRewinds();
    });
    const endLooks = parts.timers.every(LOOK_MILLIS, () => {
      for (const link of this.#links) if (link.isServing) void this.#endIfStuck(link);
    });
    this.#endWatch = () => {
      endTelling();
      endLooks();
    };
  }

  /** How many serve. */
  get running(): number {
    return [...this.#links].filter(({ isServing }) => isServing).length;
  }

  /** How many ended by themselves. */
  get replaced(): number {
    return this.#replaced;
  }

  /** How many read events, by topic. */
  get readers(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const link of this.#links) {
      for (const [topic, count] of link.readers) sums.set(topic, count + (sums.get(topic) ?? 0));
    }
    return sums;
  }

  get loads(): Iterable<[string, ServerLoad]> {
    const sums = new Map<string, ServerLoad>();
    for (const link of this.#links) {
      for (const [server, load] of link.loads) sums.set(server, sumOf(load, sums.get(server)));
    }
    return sums;
  }

  readonly lag = undefined;

  async refresh(): Promise<void> {
    const patience = new AbortController();
    const all = Promise.all(Array.from(this.#links, (link) => link.refresh()));
    // One that is stuck is not to keep the others from being seen.
    const late = this.#parts.timers.sleep(REPORT_LIMIT_MILLIS, patience.signal).catch(() => {});
    await Promise.race([all, late]);
    patience.abort();
  }

  /** Has them say that they are not ready; none is replaced any more. */
  drain(): void {
    this.#closing.abort();
    for (const link of this.#links) link.drain();
  }

  /** Lets them finish what they do for their clients, and end. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#endWatch();
    await Promise.all(Array.from(this.#links, (link) => link.close()));
  }

  #start(): WorkerLink {
    const { order, conditions } = this.#parts;
    const known = { conditions: conditions.all, floor: conditions.floor, rewinds: conditions.rewinds };
    const link = new WorkerLink(this.#startProcess(), { ...order, ...known }, this.#office);
    this.#links.add(link);
    void link.ended.then(() => this.#links.delete(link));
    return link;
  }

  /** Replaces the worker, and whoever replaces it, until they are all to end. Never rejects. */
  async #keep(first: WorkerLink): Promise<void> {
    const { timers, logger } = this.#parts;
    let link = first;
    let pause = FIRST_PAUSE_MILLIS;
    for (;;) {
      const startedAt = timers.now();
      const { pid } = link;
      link.listening.catch(() => link.kill());
      const how = await link.ended;
      if (this.#closing.signal.aborted) return;
      this.#replaced++;
      if (timers.now() - startedAt >= LASTING_MILLIS) pause = FIRST_PAUSE_MILLIS;
      logger.warn(`A worker ended ${how}, and another takes its place`, { pid, millisToWait: pause });
      try {
        await timers.sleep(pause, this.#closing.signal);
      } catch {
        return;
      }
      pause = Math.min(2 * pause, MAX_PAUSE_MILLIS);
      link = this.#start();
    }
  }

  /** It would keep its clients waiting for ever, and what it is told would pile up here. Never rejects. */
  async #endIfStuck(link: WorkerLink): Promise<void> {
    const { timers, logger } = this.#parts;
    const answered = new AbortController();
    const late = timers
      .sleep(STUCK_MILLIS, answered.signal)
      .then(() => timers.sleep(READ_MILLIS, answered.signal))
      .then(
        () => true,
        () => false,
      );
    const isStuck = await Promise.race([late, link.refresh().then(() => false)]);
    answered.abort();
    if (!isStuck || this.#closing.signal.aborted) return;
    logger.error("A worker does not answer any more, and is ended", { pid: link.pid });
    link.kill();
  }

  /** At once, so that it comes before whatever tells of the head that raised it. */
  #tellFloor(): void {
    const { floor } = this.#parts.conditions;
    if (floor === this.#toldFloor) return;
    for (const link of this.#links) link.tellFloor(floor, floor < this.#toldFloor);
    this.#toldFloor = floor;
  }

  /** At once, so that it comes before whatever tells of the chain that went back. */
  #tellRewinds(): void {
    const { rewinds } = this.#parts.conditions;
    if (rewinds === this.#toldRewinds) return;
    for (const link of this.#links) link.tellRewinds(rewinds);
    this.#toldRewinds = rewinds;
  }

  #kill(): void {
    this.#closing.abort();
    this.#endWatch();
    for (const link of this.#links) link.kill();
  }
}

function sumOf(one: ServerLoad, other: ServerLoad | undefined): ServerLoad {
  if (other === undefined) return one;
  const refused = Object.fromEntries(
    Object.entries(one.refused).map(([limit, count]) => [
      limit,
      count + other.refused[limit as keyof typeof other.refused],
    ]),
  ) as ServerLoad["refused"];
  return {
    connections: one.connections + other.connections,
    requests: one.requests + other.requests,
    requestBytes: one.requestBytes + other.requestBytes,
    answerBytes: one.answerBytes + other.answerBytes,
    refused,
  };
}
