import { isDeepStrictEqual } from "node:util";
import type { Timers } from "../../../async/timers.ts";
import type { Logger } from "../../../log/logger.ts";
import { type ChainSpec, slotAt } from "../../network/chain-spec.ts";
import type { GatewaySettings, UpstreamSettings } from "../../settings.ts";
import { fetchBody, NotFoundError, UpstreamTimeoutError } from "../client/fetch.ts";
import { memberOf } from "../client/json-fields.ts";
import { UpstreamClient } from "../client/upstream-client.ts";
import {
  HEALTH_LOG_MESSAGES,
  type HealthState,
  type HealthTracker,
  removedHealth,
  type UpstreamHealth,
} from "../upstream-health.ts";
import {
  assessHealth,
  type HealthCriteria,
  isFinalityInFuture,
  maxCredibleSlot,
  type Observation,
} from "./assess-health.ts";
import { type Checkpoint, FinalityTracker } from "./finality-tracker.ts";
import { HeadFloor } from "./head-floor.ts";
import { poll } from "./poll.ts";

const MAX_CONNECTIONS = 4;
const POLLS_PER_SLOT = 4;
const MIN_INTERVAL_MILLIS = 250;
/** Independent of the slot duration: the machine may be busy for a moment. */
const TIMEOUT_MILLIS = 2000;
/** Late upstreams get more time. They are used as a last resort, so their head must be known. */
const LONG_TIMEOUT_MILLIS = 5000;
/** The version is polled after an outage and once per this many polls. */
const VERSION_POLL_INTERVAL = 40;
const HEAD_FLOOR_GRACE_SLOTS = 2;
const FAILURE_LOG_INTERVAL_MILLIS = 60_000;

interface HealthMonitorOptions {
  settings: Pick<GatewaySettings, "upstreams" | "maxSlotsBehind">;
  chainSpec: ChainSpec;
  timers: Timers;
  logger: Logger;
}

interface MonitoredUpstream {
  client: UpstreamClient;
  observation: Observation;
  health: UpstreamHealth;
  /** Highest slot that its head has had. */
  maxHeadSlot: number;
  /** Number of updates by events, to detect outdated poll results. */
  updates: number;
  polls: number;
  /** Set while a poll is running. */
  poll: Promise<void> | undefined;
  /** When failed requests next trigger a poll, and when they are next logged. */
  nextReportAt: number;
  nextFailureLogAt: number;
}

/** Monitors upstreams by polling them several times per slot, and by their events. */
export class HealthMonitor implements HealthTracker {
  readonly #chainSpec: ChainSpec;
  readonly #maxSlotsBehind: number;
  readonly #timers: Timers;
  readonly #logger: Logger;
  /** False until each upstream was polled once. The states until then are logged by the caller of `start`. */
  #isStarted = false;
  readonly #headFloor: HeadFloor;
  readonly #finality: FinalityTracker;
  readonly #monitored: Map<string, MonitoredUpstream>;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #all: readonly UpstreamHealth[];

  constructor({ settings, chainSpec, timers, logger }: HealthMonitorOptions) {
    this.#chainSpec = chainSpec;
    this.#maxSlotsBehind = settings.maxSlotsBehind;
    this.#timers = timers;
    this.#logger = logger;
    this.#headFloor = new HeadFloor({
      timers,
      logger,
      graceMillis: HEAD_FLOOR_GRACE_SLOTS * chainSpec.secondsPerSlot * 1000,
    });
    this.#finality = new FinalityTracker(logger);
    this.#monitored = new Map(settings.upstreams.map((upstream) => [upstream.name, this.#create(upstream)]));
    this.#all = this.#collectHealth();
  }

  get all(): readonly UpstreamHealth[] {
    return this.#all;
  }

  get headFloor(): number {
    return this.#headFloor.slot;
  }

  get finalityReverts(): number {
    return this.#finality.finalityReverts;
  }

  of(upstream: string): UpstreamHealth {
    return this.#monitored.get(upstream)?.health ?? removedHealth(upstream);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  raiseHeadFloor(slot: number): void {
    if (slot <= this.#headFloor.slot || !this.#headFloor.raise(slot, maxCredibleSlot(this.#criteria()))) return;
    this.#notify();
    this.#pollForHeadFloor();
  }

  /** Starts polling. Resolves when each upstream has been polled once, even if that failed. */
  async start(): Promise<void> {
    await Promise.all([...this.#monitored.values()].map((monitored) => this.#startPolling(monitored)));
    this.#isStarted = true;
  }

  /**
   * Monitors further upstreams. An upstream with a known name replaces the previous one and keeps its state until it is
   * polled. Resolves when each has been polled once, even if that failed.
   */
  async addUpstreams(upstreams: readonly UpstreamSettings[]): Promise<void> {
    await Promise.all(
      upstreams.map((upstream) => {
        const known = this.#monitored.get(upstream.name);
        if (known === undefined) {
          const monitored = this.#create(upstream);
          this.#monitored.set(upstream.name, monitored);
          return this.#startPolling(monitored);
        }
        if (isDeepStrictEqual(known.client.options, upstream)) return undefined;
        const { client: before, poll: running } = known;
        known.client = this.#createClient(upstream);
        // Makes the next poll include version and genesis.
        known.observation = { ...known.observation, version: undefined };
        return Promise.resolve(running).then(() => {
          void before.close();
          return this.#poll(known);
        });
      }),
    );
  }

  /** Stops monitoring all upstreams except those with the given names, which are listed in this order from now on. */
  retainUpstreams(names: readonly string[]): void {
    const before = [...this.#monitored];
    this.#monitored.clear();
    for (const name of names) this.#monitored.set(name, before.find(([other]) => other === name)![1]);
    for (const [name, { client }] of before) if (!this.#monitored.has(name)) void client.close();
    this.#all = this.#collectHealth();
    this.#notify();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#listeners.clear();
    await Promise.all([...this.#monitored.values()].map(({ client }) => client.close()));
  }

  /** Records the head of an upstream from an event. */
  recordHead(upstream: string, head: { readonly slot: number; readonly root: string }): void {
    const monitored = this.#of(upstream);
    monitored.updates++;
    if (monitored.observation.head?.root === head.root && monitored.observation.head.slot === head.slot) return;
    monitored.observation = { ...monitored.observation, head: { slot: head.slot, root: head.root } };
    this.#assessAll(monitored);
  }

  /** Records the finalized checkpoint of an upstream from an event. */
  recordFinalized(upstream: string, finalized: Checkpoint): void {
    const monitored = this.#of(upstream);
    monitored.updates++;
    monitored.observation = {
      ...monitored.observation,
      finalized: { epoch: finalized.epoch, root: finalized.root },
    };
    this.#assessAll(monitored);
  }

  /** Records that an upstream has reorged all blocks after a slot. */
  recordReorg(upstream: string, ancestorSlot: number): void {
    const final = this.#finality.latest(upstream);
    if (final && ancestorSlot < final.epoch * this.#chainSpec.slotsPerEpoch) this.#handleRevert(this.#of(upstream));
  }

  /**
   * Polls an upstream at once after several failed requests. Only the poll changes its state, which would otherwise
   * alternate if it fails requests but answers polls. Until then, the circuit breaker avoids it.
   */
  reportFailing(upstream: string, reason: string): void {
    const monitored = this.#monitored.get(upstream);
    if (monitored === undefined || monitored.observation.failure !== undefined) return;
    const now = this.#timers.now();
    if (now < monitored.nextReportAt) return;
    monitored.nextReportAt = now + MIN_INTERVAL_MILLIS;
    void this.#pollAgain(monitored).then(() => this.#logFailingRequests(monitored, reason));
  }

  /** Returns the body of a response, or undefined for 404. Rejects with an `UpstreamError` otherwise. */
  async fetch(upstream: string, path: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    const { client } = this.#of(upstream);
    try {
      return await fetchBody(client, path, { timers: this.#timers, timeoutMillis: TIMEOUT_MILLIS, signal });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  #of(upstream: string): MonitoredUpstream {
    const monitored = this.#monitored.get(upstream);
    if (monitored === undefined) throw new Error(`Unknown upstream "${upstream}".`);
    return monitored;
  }

  #create(upstream: UpstreamSettings): MonitoredUpstream {
    const failure = "It has not been polled yet.";
    const health: UpstreamHealth = { upstream: upstream.name, state: "down", reasons: [failure] };
    const client = this.#createClient(upstream);
    const counts = { maxHeadSlot: 0, updates: 0, polls: 0, nextReportAt: 0, nextFailureLogAt: 0 };
    return { client, observation: { failure }, health, poll: undefined, ...counts };
  }

  #createClient(upstream: UpstreamSettings): UpstreamClient {
    return new UpstreamClient(upstream, { timers: this.#timers, connections: MAX_CONNECTIONS });
  }

  /** Resolves after the first poll. */
  async #startPolling(monitored: MonitoredUpstream): Promise<void> {
    await this.#poll(monitored);
    this.#pollForever(monitored).catch(() => {
      // Closed.
    });
  }

  /** Polls with jitter, so that polls of several upstreams and gateways do not align. */
  async #pollForever(monitored: MonitoredUpstream): Promise<void> {
    const interval = Math.max(MIN_INTERVAL_MILLIS, (this.#chainSpec.secondsPerSlot * 1000) / POLLS_PER_SLOT);
    while (this.#isMonitored(monitored)) {
      await this.#timers.sleep(interval * (0.8 + 0.4 * Math.random()), this.#closed.signal);
      if (this.#isMonitored(monitored)) await this.#poll(monitored);
    }
  }

  #isMonitored(monitored: MonitoredUpstream): boolean {
    return this.#monitored.get(monitored.client.name) === monitored;
  }

  /** Polls all usable upstreams if none is known to reach the head floor. Until one does, head-bound requests wait. */
  #pollForHeadFloor(): void {
    const selectable = this.#selectable();
    if (selectable.some(({ health: { head } }) => head && head.slot >= this.#headFloor.slot)) return;
    for (const monitored of selectable) void this.#pollAgain(monitored);
  }

  /** Polls again after a running poll, whose answer may already be outdated. */
  async #pollAgain(monitored: MonitoredUpstream): Promise<void> {
    await monitored.poll;
    await this.#poll(monitored);
  }

  /** Joins a running poll. */
  #poll(monitored: MonitoredUpstream): Promise<void> {
    monitored.poll ??= this.#runPoll(monitored).finally(() => {
      monitored.poll = undefined;
    });
    return monitored.poll;
  }

  async #runPoll(monitored: MonitoredUpstream): Promise<void> {
    monitored.observation = await this.#observe(monitored);
    if (this.#closed.signal.aborted || !this.#isMonitored(monitored)) return;
    this.#assessAll(monitored);
    await this.#checkFinality(monitored);
  }

  /**
   * Checks whether an upstream has reverted its finalized checkpoint. It may also have an older head, whose state has
   * an older checkpoint.
   */
  async #checkFinality({ client: { name }, health }: MonitoredUpstream): Promise<void> {
    const final = this.#finality.latest(name);
    // An upstream that is not ready may be resyncing.
    if (final === undefined || final.root === health.finalized?.root || health.state !== "ready") return;
    try {
      const header = await this.fetch(name, `/eth/v1/beacon/headers/${final.root}`, this.#closed.signal);
      const isCanonical = header && memberOf(memberOf(JSON.parse(header.toString()), "data"), "canonical") !== false;
      if (!isCanonical && final === this.#finality.latest(name)) this.#handleRevert(this.#of(name));
    } catch {
      // Checked again after the next poll.
    }
  }

  /** Forgets the finalized checkpoint of an upstream that has reverted it. */
  #handleRevert(monitored: MonitoredUpstream): void {
    monitored.updates++;
    monitored.observation = { ...monitored.observation, finalized: undefined };
    this.#finality.recordRevert(monitored.client.name, this.#all);
    this.#assessAll(monitored);
  }

  async #observe(monitored: MonitoredUpstream): Promise<Observation> {
    const previous = monitored.observation;
    const { updates } = monitored;
    const isKnown = previous.failure === undefined && previous.version !== undefined;
    const includesVersion = !isKnown || ++monitored.polls % VERSION_POLL_INTERVAL === 0;
    let polled: Observation;
    try {
      polled = await this.#pollOnce(monitored.client, includesVersion, previous);
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      return { ...monitored.observation, failure, isLate: error instanceof UpstreamTimeoutError };
    }
    const known = monitored.observation;
    // Updates by events are newer than the poll.
    const [newer, older] = monitored.updates === updates ? [polled, known] : [known, polled];
    return {
      ...polled,
      version: polled.version ?? known.version,
      genesisValidatorsRoot: polled.genesisValidatorsRoot ?? known.genesisValidatorsRoot,
      genesisTime: polled.genesisTime ?? known.genesisTime,
      head: newer.head ?? older.head,
      polledHead: polled.head,
      finalized: newer.finalized ?? older.finalized,
    };
  }

  /** Retries once if a healthy upstream times out. */
  async #pollOnce(client: UpstreamClient, includesVersion: boolean, previous: Observation): Promise<Observation> {
    const { failure, isLate = false } = previous;
    const options = {
      timers: this.#timers,
      timeoutMillis: isLate ? LONG_TIMEOUT_MILLIS : TIMEOUT_MILLIS,
      signal: this.#closed.signal,
      includesVersion,
    };
    const startedAt = this.#timers.now();
    try {
      const polled = await poll(client, options);
      return isLate && this.#timers.now() - startedAt > TIMEOUT_MILLIS ? { ...polled, failure, isLate } : polled;
    } catch (error) {
      if (!(error instanceof UpstreamTimeoutError) || failure !== undefined) throw error;
      return poll(client, options);
    }
  }

  #criteria(): HealthCriteria {
    return {
      genesisValidatorsRoot: this.#chainSpec.genesisValidatorsRoot,
      genesisTime: this.#chainSpec.genesisTime,
      clockSlot: slotAt(this.#chainSpec, this.#timers.unixNow()),
      slotsPerEpoch: this.#chainSpec.slotsPerEpoch,
      maxSlotsBehind: this.#maxSlotsBehind,
      all: [...this.#monitored.values()].map(({ observation }) => observation),
    };
  }

  /** Assesses all upstreams after one has been observed. */
  #assessAll(observed: MonitoredUpstream): void {
    const criteria = this.#criteria();
    let isChanged = false;
    for (const monitored of this.#monitored.values()) {
      if (this.#assess(monitored, criteria, monitored === observed)) isChanged = true;
    }
    if (this.#checkHeadFloor()) isChanged = true;
    if (!isChanged) return;
    this.#all = this.#collectHealth();
    this.#notify();
  }

  /**
   * Assesses one upstream. If an update of another upstream puts it behind, it is polled first, because its own update
   * may be on the way.
   */
  #assess(monitored: MonitoredUpstream, criteria: HealthCriteria, isObserved: boolean): boolean {
    const {
      genesisValidatorsRoot: _root,
      genesisTime: _time,
      failure: _failure,
      isLate: _isLate,
      shortcoming: _shortcoming,
      polledHead: _polledHead,
      ...known
    } = monitored.observation;
    const previous = monitored.health;
    const health = { upstream: previous.upstream, ...assessHealth(monitored.observation, criteria), ...known };
    if (JSON.stringify(health) === JSON.stringify(previous)) return false;
    if (!isObserved && this.#isStarted && previous.state === "ready" && health.state === "behind") {
      void this.#pollAgain(monitored);
      return false;
    }
    monitored.health = health;
    if (!isFinalityInFuture(health, criteria)) this.#finality.record(health);
    if (this.#isStarted && health.state !== previous.state) this.#log(health);
    return true;
  }

  #log({ upstream, state, reasons, version }: UpstreamHealth): void {
    const level = ({ ready: "info", behind: "warn", late: "warn", down: "warn", foreign: "error" } as const)[state];
    this.#logger[level](HEALTH_LOG_MESSAGES[state], { upstream, ...(state === "ready" ? { version } : { reasons }) });
  }

  /** Logs at most once a minute that an upstream fails requests although it has just answered a poll. */
  #logFailingRequests(monitored: MonitoredUpstream, reason: string): void {
    const now = this.#timers.now();
    const isAnswering = monitored.observation.failure === undefined && this.#isMonitored(monitored);
    if (!isAnswering || this.#closed.signal.aborted || now < monitored.nextFailureLogAt) return;
    monitored.nextFailureLogAt = now + FAILURE_LOG_INTERVAL_MILLIS;
    const { upstream } = monitored.health;
    this.#logger.warn("Upstream fails requests but answers health polls", { upstream, reason });
  }

  #checkHeadFloor(): boolean {
    const selectable = this.#selectable();
    const heads = selectable.flatMap(({ health: { head }, maxHeadSlot }) =>
      head ? [{ slot: head.slot, maxHeadSlot }] : [],
    );
    const isLowered = this.#headFloor.lowerIfUnreached(heads);
    for (const monitored of selectable) {
      const slot = monitored.health.head?.slot ?? 0;
      monitored.maxHeadSlot = isLowered ? slot : Math.max(monitored.maxHeadSlot, slot);
    }
    return isLowered;
  }

  /** Returns the upstreams with the best available state. */
  #selectable(): MonitoredUpstream[] {
    const all = [...this.#monitored.values()];
    const inState = (expected: HealthState) => all.filter(({ health: { state } }) => state === expected);
    return [inState("ready"), inState("behind"), inState("late")].find((some) => some.length > 0) ?? [];
  }

  #collectHealth(): readonly UpstreamHealth[] {
    return [...this.#monitored.values()].map(({ health }) => health);
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
