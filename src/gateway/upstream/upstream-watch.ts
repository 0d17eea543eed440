import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { type ChainFacts, slotAt } from "../chain-facts.ts";
import type { Condition, Conditions, Fitness } from "../condition.ts";
import type { GatewayOptions } from "../options.ts";
import { askForBody, LateError, MissingError } from "./ask.ts";
import { type Checkpoint, Finality } from "./finality.ts";
import { Floor } from "./floor.ts";
import { judge, latestCredibleSlot, type Measure, type Observation } from "./judge.ts";
import { poll } from "./poll.ts";
import { memberOf } from "./read-json.ts";
import { UpstreamClient } from "./upstream-client.ts";

const CONNECTIONS = 4;
const POLLS_PER_SLOT = 4;
const MIN_PAUSE_MILLIS = 250;
/** However short slots are: a machine may be busy for a moment. */
const TIMEOUT_MILLIS = 2000;
/** One that is known to be late is given longer, since it is asked when there is no other, and where its head is has to be known. */
const LATE_TIMEOUT_MILLIS = 5000;
/** What an upstream calls itself is asked when it was down, and after so many polls. */
const VERSION_EVERY = 40;
const PATIENCE_SLOTS = 2;

interface UpstreamWatchOptions {
  options: Pick<GatewayOptions, "upstreams" | "maxSlotsBehind">;
  facts: ChainFacts;
  timers: Timers;
  logger: Logger;
}

/** One upstream, as it is watched. */
interface Watched {
  readonly client: UpstreamClient;
  observation: Observation;
  condition: Condition;
  /** How far its head ever was. */
  highest: number;
  /** How often it told of its head itself, so that what a poll brings is known to be older. */
  notes: number;
  polls: number;
  /** Undefined when it is not being polled. */
  poll: Promise<void> | undefined;
}

/** Watches how the upstreams are, by asking them a few times a slot and by what their events tell. */
export class UpstreamWatch implements Conditions {
  readonly #facts: ChainFacts;
  readonly #maxSlotsBehind: number;
  readonly #timers: Timers;
  readonly #logger: Logger;
  readonly #floor: Floor;
  readonly #finality: Finality;
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #all: readonly Condition[];

  constructor({ options, facts, timers, logger }: UpstreamWatchOptions) {
    this.#facts = facts;
    this.#maxSlotsBehind = options.maxSlotsBehind;
    this.#timers = timers;
    this.#logger = logger;
    this.#floor = new Floor({ timers, logger, patienceMillis: PATIENCE_SLOTS * facts.secondsPerSlot * 1000 });
    this.#finality = new Finality(logger);
    this.#watched = new Map(
      options.upstreams.map((upstream) => {
        const client = new UpstreamClient(upstream, { timers, connections: CONNECTIONS });
        const failure = "It has not been asked yet.";
        const condition: Condition = { upstream: upstream.name, fitness: "down", reasons: [failure] };
        return [
          upstream.name,
          { client, observation: { failure }, condition, highest: 0, notes: 0, polls: 0, poll: undefined },
        ];
      }),
    );
    this.#all = this.#conditions();
  }

  get all(): readonly Condition[] {
    return this.#all;
  }

  get floor(): number {
    return this.#floor.slot;
  }

  get rewinds(): number {
    return this.#finality.rewinds;
  }

  of(upstream: string): Condition {
    return this.#of(upstream).condition;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  raiseFloor(slot: number): void {
    if (slot <= this.#floor.slot || !this.#floor.raise(slot, latestCredibleSlot(this.#measure()))) return;
    this.#tell();
    this.#lookForFloor();
  }

  /** Begins; resolves when each upstream has been asked once, whatever came of it. */
  async start(): Promise<void> {
    await Promise.all(
      [...this.#watched.values()].map(async (watched) => {
        await this.#poll(watched);
        this.#follow(watched).catch(() => {
          // It has been closed.
        });
      }),
    );
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#listeners.clear();
    await Promise.all([...this.#watched.values()].map(({ client }) => client.close()));
  }

  /** An upstream has told of its head. */
  noteHead(upstream: string, head: { readonly slot: number; readonly root: string }): void {
    const watched = this.#of(upstream);
    watched.notes++;
    if (watched.observation.head?.root === head.root && watched.observation.head.slot === head.slot) return;
    watched.observation = { ...watched.observation, head: { slot: head.slot, root: head.root } };
    this.#judgeAll();
  }

  /** An upstream has told of what is final. */
  noteFinalized(upstream: string, finalized: Checkpoint): void {
    const watched = this.#of(upstream);
    watched.notes++;
    watched.observation = {
      ...watched.observation,
      finalized: { epoch: finalized.epoch, root: finalized.root },
    };
    this.#judgeAll();
  }

  /** An upstream has left all blocks after this slot for others. */
  noteReorg(upstream: string, ancestorSlot: number): void {
    const final = this.#finality.latest(upstream);
    if (final && ancestorSlot < final.epoch * this.#facts.slotsPerEpoch) this.#goBack(this.#of(upstream));
  }

  /** Questions to an upstream failed several times in a row: it is down until it answers the next poll, which comes at once. */
  suspect(upstream: string, reason: string): void {
    const watched = this.#of(upstream);
    if (watched.observation.failure !== undefined) return;
    watched.observation = { ...watched.observation, failure: reason, isLate: false };
    this.#judgeAll();
    void this.#poll(watched);
  }

  /** The body of what an upstream answers; undefined when it has no such thing. Rejects with an `UpstreamError` otherwise. */
  async ask(upstream: string, path: string, signal?: AbortSignal): Promise<Buffer | undefined> {
    const { client } = this.#of(upstream);
    try {
      return await askForBody(client, path, { timers: this.#timers, timeoutMillis: TIMEOUT_MILLIS, signal });
    } catch (error) {
      if (error instanceof MissingError) return undefined;
      throw error;
    }
  }

  #of(upstream: string): Watched {
    const watched = this.#watched.get(upstream);
    if (watched === undefined) throw new Error(`There is no upstream ${upstream}.`);
    return watched;
  }

  /** Polls again and again, never in step with the polls of other upstreams or of other gateways. */
  async #follow(watched: Watched): Promise<never> {
    const pause = Math.max(MIN_PAUSE_MILLIS, (this.#facts.secondsPerSlot * 1000) / POLLS_PER_SLOT);
    for (;;) {
      await this.#timers.sleep(pause * (0.8 + 0.4 * Math.random()), this.#closed.signal);
      await this.#poll(watched);
    }
  }

  /** An answer may tell of a head before its upstream does. Until it is known who has it, nobody is asked about the head. */
  #lookForFloor(): void {
    const asked = this.#asked();
    if (asked.some(({ condition: { head } }) => head && head.slot >= this.#floor.slot)) return;
    // A poll that is under way may have been answered before.
    for (const watched of asked) void Promise.resolve(watched.poll).then(() => this.#poll(watched));
  }

  /** Joins the poll that is under way, if there is one. */
  #poll(watched: Watched): Promise<void> {
    watched.poll ??= this.#pollAnew(watched).finally(() => {
      watched.poll = undefined;
    });
    return watched.poll;
  }

  async #pollAnew(watched: Watched): Promise<void> {
    watched.observation = await this.#observe(watched);
    if (this.#closed.signal.aborted) return;
    this.#judgeAll();
    await this.#checkFinality(watched);
  }

  /** An upstream that tells of less than it took for final may have left that; or it is only the state of its head that knows less. */
  async #checkFinality({ client: { name }, condition }: Watched): Promise<void> {
    const final = this.#finality.latest(name);
    // One that is not ready may sync anew.
    if (final === undefined || final.root === condition.finalized?.root || condition.fitness !== "ready") return;
    try {
      const header = await this.ask(name, `/eth/v1/beacon/headers/${final.root}`, this.#closed.signal);
      const isThere = header && memberOf(memberOf(JSON.parse(header.toString()), "data"), "canonical") !== false;
      if (!isThere && final === this.#finality.latest(name)) this.#goBack(this.#of(name));
    } catch {
      // It is asked again after the next poll.
    }
  }

  /** Behind what it took for final. What it takes for that now is still to be heard. */
  #goBack(watched: Watched): void {
    watched.notes++;
    watched.observation = { ...watched.observation, finalized: undefined };
    this.#finality.leave(watched.client.name, this.#all);
    this.#judgeAll();
  }

  async #observe(watched: Watched): Promise<Observation> {
    const before = watched.observation;
    const { notes } = watched;
    const isKnown = before.failure === undefined && before.version !== undefined;
    const asksForVersion = !isKnown || ++watched.polls % VERSION_EVERY === 0;
    let polled: Observation;
    try {
      polled = await this.#pollOnce(watched.client, asksForVersion, before);
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      return { ...watched.observation, failure, isLate: error instanceof LateError };
    }
    const known = watched.observation;
    // What it told of itself meanwhile is newer.
    const [newer, older] = watched.notes === notes ? [polled, known] : [known, polled];
    return {
      ...polled,
      version: polled.version ?? known.version,
      genesisValidatorsRoot: polled.genesisValidatorsRoot ?? known.genesisValidatorsRoot,
      genesisTime: polled.genesisTime ?? known.genesisTime,
      head: newer.head ?? older.head,
      finalized: newer.finalized ?? older.finalized,
    };
  }

  /** An upstream that was well a moment ago may be late once. */
  async #pollOnce(client: UpstreamClient, asksForVersion: boolean, before: Observation): Promise<Observation> {
    const { failure, isLate = false } = before;
    const options = {
      timers: this.#timers,
      timeoutMillis: isLate ? LATE_TIMEOUT_MILLIS : TIMEOUT_MILLIS,
      signal: this.#closed.signal,
      asksForVersion,
    };
    const began = this.#timers.now();
    try {
      const polled = await poll(client, options);
      return isLate && this.#timers.now() - began > TIMEOUT_MILLIS ? { ...polled, failure, isLate } : polled;
    } catch (error) {
      if (!(error instanceof LateError) || failure !== undefined) throw error;
      return poll(client, options);
    }
  }

  #measure(): Measure {
    return {
      genesisValidatorsRoot: this.#facts.genesisValidatorsRoot,
      genesisTime: this.#facts.genesisTime,
      clockSlot: slotAt(this.#facts, this.#timers.unixNow()),
      slotsPerEpoch: this.#facts.slotsPerEpoch,
      maxSlotsBehind: this.#maxSlotsBehind,
      all: [...this.#watched.values()].map(({ observation }) => observation),
    };
  }

  #judgeAll(): void {
    const measure = this.#measure();
    let isChanged = false;
    for (const watched of this.#watched.values()) {
      if (this.#judge(watched, measure)) isChanged = true;
    }
    if (this.#checkFloor()) isChanged = true;
    if (!isChanged) return;
    this.#all = this.#conditions();
    this.#tell();
  }

  #judge(watched: Watched, measure: Measure): boolean {
    const {
      genesisValidatorsRoot: _root,
      genesisTime: _time,
      failure: _failure,
      isLate: _isLate,
      shortcoming: _shortcoming,
      ...known
    } = watched.observation;
    const before = watched.condition;
    const condition = { upstream: before.upstream, ...judge(watched.observation, measure), ...known };
    if (JSON.stringify(condition) === JSON.stringify(before)) return false;
    watched.condition = condition;
    this.#finality.note(condition);
    if (condition.fitness !== before.fitness) this.#log(condition);
    return true;
  }

  #log({ upstream, fitness, reasons, version }: Condition): void {
    const level = ({ ready: "info", behind: "warn", late: "warn", down: "warn", foreign: "error" } as const)[fitness];
    this.#logger[level](FITNESS_LINES[fitness], { upstream, ...(fitness === "ready" ? { version } : { reasons }) });
  }

  #checkFloor(): boolean {
    const asked = this.#asked();
    const reaches = asked.flatMap(({ condition: { head }, highest }) => (head ? [{ slot: head.slot, highest }] : []));
    const isLetGo = this.#floor.check(reaches);
    for (const watched of asked) {
      const slot = watched.condition.head?.slot ?? 0;
      watched.highest = isLetGo ? slot : Math.max(watched.highest, slot);
    }
    return isLetGo;
  }

  /** The fittest that there are. */
  #asked(): Watched[] {
    const all = [...this.#watched.values()];
    const having = (wanted: Fitness) => all.filter(({ condition: { fitness } }) => fitness === wanted);
    return [having("ready"), having("behind"), having("late")].find((some) => some.length > 0) ?? [];
  }

  #conditions(): readonly Condition[] {
    return [...this.#watched.values()].map(({ condition }) => condition);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

export const FITNESS_LINES: Readonly<Record<Fitness, string>> = {
  ready: "Upstream is ready",
  behind: "Upstream is behind and asked only when none is ready",
  late: "Upstream does not answer in time and is asked only when no other can be",
  down: "Upstream is down",
  foreign: "Upstream follows another chain and is not asked",
};
