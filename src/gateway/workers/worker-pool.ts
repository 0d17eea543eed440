import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { writeRecord } from "../../log/thread-logger.ts";
import type { ServerLoad } from "../../server/http/server.ts";
import type { ServerUrls } from "../gateway-server.ts";
import type { ServerProcesses } from "../metrics/gateway-metrics.ts";
import type { GatewaySettings } from "../settings.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import { coalesce } from "./coalesce.ts";
import type { WorkerConfig } from "./protocol.ts";
import { WorkerHandle, type WorkerHandlers } from "./worker-handle.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

/** Exponential backoff before a worker is replaced. */
const FIRST_BACKOFF_MILLIS = 100;
const MAX_BACKOFF_MILLIS = 30_000;
/** A worker that ran for this long resets the backoff. */
const STABLE_MILLIS = 60_000;
/** How often liveness is checked, and how long a worker may take to answer. */
const LIVENESS_INTERVAL_MILLIS = 10_000;
const LIVENESS_TIMEOUT_MILLIS = 30_000;
/** Time to read a pending answer, in case this process itself was suspended. */
const LIVENESS_GRACE_MILLIS = 1000;
/** How long a scrape or a reload waits for the answers of all workers. */
const ANSWER_TIMEOUT_MILLIS = 2000;

interface WorkerPoolOptions {
  count: number;
  config: Omit<WorkerConfig, "health" | "headFloor" | "finalityReverts">;
  health: HealthTracker;
  handlers: Omit<WorkerHandlers, "raiseHeadFloor" | "pinned" | "log">;
  timers: Timers;
  logger: Logger;
  startProcess?: () => WorkerProcess;
}

/** Pool of worker processes. Replaces workers that exit and kills unresponsive ones. */
export class WorkerPool implements ServerProcesses {
  readonly #options: WorkerPoolOptions;
  #settings: GatewaySettings;
  readonly #handlers: WorkerHandlers;
  readonly #startProcess: () => WorkerProcess;
  readonly #handles = new Set<WorkerHandle>();
  readonly #closing = new AbortController();
  readonly #stopWatching: () => void;
  #sentHeadFloor: number;
  #sentFinalityReverts: number;
  #replaced = 0;

  /** Resolves when all workers serve. */
  static async start(options: WorkerPoolOptions): Promise<{ workers: WorkerPool; urls: ServerUrls }> {
    const workers = new WorkerPool(options);
    const handles = Array.from({ length: options.count }, () => workers.#start());
    try {
      const [urls = {}] = await Promise.all(handles.map(({ listening }) => listening));
      for (const handle of handles) void workers.#supervise(handle);
      options.logger.info("Workers serve", { pids: handles.map(({ pid }) => pid).join() });
      return { workers, urls };
    } catch (error) {
      workers.#kill();
      throw error;
    }
  }

  private constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#settings = options.config.settings;
    const { health, logger } = options;
    this.#startProcess = options.startProcess ?? startWorkerProcess;
    this.#handlers = {
      ...options.handlers,
      raiseHeadFloor: (by, slot) => {
        health.raiseHeadFloor(slot);
        // The head is not credible, so the worker must not wait for it.
        if (health.headFloor < slot) by.sendHeadFloor(health.headFloor, true);
      },
      pinned: (by, ...pinned) => {
        for (const handle of this.#handles) if (handle !== by) handle.sendPinned(...pinned);
      },
      log: (...record) => writeRecord(logger, ["log", ...record]),
    };
    this.#sentHeadFloor = health.headFloor;
    this.#sentFinalityReverts = health.finalityReverts;
    const sendHealth = coalesce(() => {
      for (const handle of this.#handles) handle.sendHealth(health.all);
    });
    const stopListening = health.onChange(() => {
      sendHealth();
      this.#sendHeadFloor();
      this.#sendFinalityReverts();
    });
    const stopLivenessChecks = options.timers.every(LIVENESS_INTERVAL_MILLIS, () => {
      for (const handle of this.#handles) if (handle.isServing) void this.#killIfUnresponsive(handle);
    });
    this.#stopWatching = () => {
      stopListening();
      stopLivenessChecks();
    };
  }

  /** Number of serving workers. */
  get running(): number {
    return [...this.#handles].filter(({ isServing }) => isServing).length;
  }

  /** Number of workers that exited unexpectedly. */
  get replaced(): number {
    return this.#replaced;
  }

  /** Event subscribers by topic. */
  get subscriberCounts(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const handle of this.#handles) {
      for (const [topic, count] of handle.subscriberCounts) sums.set(topic, count + (sums.get(topic) ?? 0));
    }
    return sums;
  }

  get loads(): Iterable<[string, ServerLoad]> {
    const sums = new Map<string, ServerLoad>();
    for (const handle of this.#handles) {
      for (const [server, load] of handle.loads) sums.set(server, sumLoads(load, sums.get(server)));
    }
    return sums;
  }

  readonly lag = undefined;

  /** Requests current loads and subscriber counts from all workers, for metrics. */
  refresh(): Promise<void> {
    return this.#untilAnswered((handle) => handle.refresh());
  }

  /**
   * Applies changed settings to all workers, also to their later replacements. Resolves when all responsive workers
   * serve with them.
   */
  reload(settings: GatewaySettings): Promise<void> {
    this.#settings = settings;
    return this.#untilAnswered((handle) => {
      // Added upstreams must be known when they are selected.
      handle.sendHealth(this.#options.health.all);
      return handle.reload(settings);
    });
  }

  /** Makes all workers report as not ready. Workers are no longer replaced. */
  drain(): void {
    this.#closing.abort();
    for (const handle of this.#handles) handle.drain();
  }

  /** Waits for running calls, then ends all workers. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopWatching();
    await Promise.all(Array.from(this.#handles, (handle) => handle.close()));
  }

  /** Resolves when all workers have answered. An unresponsive worker does not delay the others for long. */
  async #untilAnswered(ask: (handle: WorkerHandle) => Promise<void>): Promise<void> {
    const answered = new AbortController();
    const all = Promise.all(Array.from(this.#handles, ask));
    const timedOut = this.#options.timers.sleep(ANSWER_TIMEOUT_MILLIS, answered.signal).catch(() => {});
    await Promise.race([all, timedOut]);
    answered.abort();
  }

  #start(): WorkerHandle {
    const { config, health } = this.#options;
    const healthSnapshot = { health: health.all, headFloor: health.headFloor, finalityReverts: health.finalityReverts };
    const workerConfig = { ...config, settings: this.#settings, ...healthSnapshot };
    const handle = new WorkerHandle(this.#startProcess(), workerConfig, this.#handlers);
    this.#handles.add(handle);
    void handle.ended.then(() => this.#handles.delete(handle));
    return handle;
  }

  /** Replaces a worker whenever it exits, until the pool is closed. Never rejects. */
  async #supervise(first: WorkerHandle): Promise<void> {
    const { timers, logger } = this.#options;
    let handle = first;
    let backoff = FIRST_BACKOFF_MILLIS;
    for (;;) {
      const startedAt = timers.now();
      const { pid } = handle;
      handle.listening.catch(() => handle.kill());
      const how = await handle.ended;
      if (this.#closing.signal.aborted) return;
      this.#replaced++;
      if (timers.now() - startedAt >= STABLE_MILLIS) backoff = FIRST_BACKOFF_MILLIS;
      logger.warn("Worker exited, replacing it", { pid, cause: how, delayMs: backoff });
      try {
        await timers.sleep(backoff, this.#closing.signal);
      } catch {
        return;
      }
      backoff = Math.min(2 * backoff, MAX_BACKOFF_MILLIS);
      handle = this.#start();
    }
  }

  /** Kills a hung worker: its clients would wait forever, and messages to it would accumulate. Never rejects. */
  async #killIfUnresponsive(handle: WorkerHandle): Promise<void> {
    const { timers, logger } = this.#options;
    const answered = new AbortController();
    const timedOut = timers
      .sleep(LIVENESS_TIMEOUT_MILLIS, answered.signal)
      .then(() => timers.sleep(LIVENESS_GRACE_MILLIS, answered.signal))
      .then(
        () => true,
        () => false,
      );
    const isUnresponsive = await Promise.race([timedOut, handle.refresh().then(() => false)]);
    answered.abort();
    if (!isUnresponsive || this.#closing.signal.aborted) return;
    logger.error("Worker unresponsive, killing it", { pid: handle.pid });
    handle.kill();
  }

  /** Sent at once, so that it arrives before the event of the head. */
  #sendHeadFloor(): void {
    const { headFloor } = this.#options.health;
    if (headFloor === this.#sentHeadFloor) return;
    for (const handle of this.#handles) handle.sendHeadFloor(headFloor, headFloor < this.#sentHeadFloor);
    this.#sentHeadFloor = headFloor;
  }

  /** Sent at once, so that it arrives before the event of the revert. */
  #sendFinalityReverts(): void {
    const { finalityReverts } = this.#options.health;
    if (finalityReverts === this.#sentFinalityReverts) return;
    for (const handle of this.#handles) handle.sendFinalityReverts(finalityReverts);
    this.#sentFinalityReverts = finalityReverts;
  }

  #kill(): void {
    this.#closing.abort();
    this.#stopWatching();
    for (const handle of this.#handles) handle.kill();
  }
}

function sumLoads(one: ServerLoad, other: ServerLoad | undefined): ServerLoad {
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
    responseBytes: one.responseBytes + other.responseBytes,
    refused,
  };
}
