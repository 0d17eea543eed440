import { randomUUID } from "node:crypto";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { Trouble } from "../../log/trouble.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Fitness } from "../condition.ts";
import type { CacheOptions } from "../options.ts";
import { type ChainEvent, headOf, readEvent } from "./chain-event.ts";
import { EventEngine, type StreamEntry } from "./event-engine.ts";
import { reasonOf } from "./reason.ts";
import { Told } from "./told.ts";
import { isSteady } from "./topics.ts";

const LEASE_MILLIS = 4000;
const FIRST_WAIT_MILLIS = 250;
const LONGEST_WAIT_MILLIS = 15_000;

const BEFORE_ALL = "0-0";

/** Whoever finds out what happens. */
interface Finder {
  /** How fit the upstream is whose story it tells; undefined while there is none. */
  readonly leaderFitness: Fitness | undefined;
  /** Goes on from what was told, and offers what follows. */
  activate(told: Told): void;
  /** Finds out no more. These were offered, and others tell them if they can. */
  rest(inVain?: readonly ChainEvent[]): void;
}

export interface SharedEventsOptions {
  readonly cache: CacheOptions;
  readonly facts: ChainFacts;
  readonly finder: Finder;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly leaseMillis?: number;
  tell(event: ChainEvent): void;
}

/**
 * The same events in the same order from all gateways that share a cache engine: one of them, who has the lease, writes what it finds
 * out to a stream there, and all tell what they read from it. While the engine does not answer every gateway tells what it finds out
 * itself, from what it has told on. Only topics that are always followed are shared: attestations and the like would be too much, and
 * are asked for by those alone whose readers want them.
 */
export class SharedEvents {
  readonly #options: SharedEventsOptions;
  readonly #leaseMillis: number;
  readonly #token = randomUUID();
  readonly #told: Told;
  readonly #trouble: Trouble;
  readonly #garbage: Trouble;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** How this gateway comes to what it tells; nothing is told before it has looked for the others. */
  #part: "joining" | "writer" | "reader" | "alone" = "joining";
  #engine: EventEngine | undefined;
  /** What it has offered to the stream and has not read from there yet. */
  #offered: ChainEvent[] = [];
  #hasLease = false;
  /** Of the last entry that was looked at. */
  #lastId = BEFORE_ALL;

  constructor(options: SharedEventsOptions) {
    const { logger, leaseMillis = LEASE_MILLIS } = options;
    this.#options = options;
    this.#told = new Told(options.facts);
    this.#leaseMillis = leaseMillis;
    this.#trouble = new Trouble(logger, {
      begins: "The cache engine does not pass on events; until it does, this gateway tells what it finds out itself",
      ends: "The cache engine passes on events again",
    });
    this.#garbage = new Trouble(logger, {
      begins: "There is something in the stream of events that is none; it is left out",
      ends: "There are only events in the stream of events again",
    });
    this.#running = this.#run();
  }

  /** What the finder has found out. */
  offer(event: ChainEvent): void {
    if (this.#part === "alone") {
      this.#tell(event);
    } else if (this.#part === "writer") {
      this.#offered.push(event);
      void this.#write(this.#engine!, event);
    }
  }

  /** Another gateway can go on at once. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#engine?.stopReading();
    await this.#running;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { timers } = this.#options;
    let wait = FIRST_WAIT_MILLIS;
    while (!this.#isClosed) {
      const begun = timers.now();
      const error = await this.#shareUntilBroken();
      if (this.#isClosed) return;
      this.#trouble.met({ reason: reasonOf(error) });
      this.#goAlone();
      if (timers.now() - begun > LONGEST_WAIT_MILLIS) wait = FIRST_WAIT_MILLIS;
      await timers.sleep(wait, this.#closing.signal).catch(() => {});
      wait = Math.min(2 * wait, LONGEST_WAIT_MILLIS);
    }
  }

  /** Resolves with the reason. */
  async #shareUntilBroken(): Promise<unknown> {
    const { cache, facts, timers } = this.#options;
    try {
      this.#engine = await EventEngine.connect({
        url: cache.url,
        // Dev chains that are made anew have the validators of those before them.
        prefix: `${cache.prefix}${facts.genesisValidatorsRoot}:${facts.genesisTime}:`,
        token: this.#token,
        leaseMillis: this.#leaseMillis,
        timers,
      });
      await this.#share(this.#engine);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      if (this.#isClosed && this.#hasLease) await this.#engine?.release().catch(() => {});
      this.#hasLease = false;
      this.#engine?.close();
      this.#engine = undefined;
    }
  }

  async #share(engine: EventEngine): Promise<void> {
    const { timers } = this.#options;
    // What follows changes nothing yet if the engine takes no lease, such as one that is full.
    await this.#holdLease(engine);
    this.#join(await engine.newest());
    for (let leaseAt = timers.now() + this.#leaseMillis / 4; !this.#isClosed; ) {
      if (timers.now() >= leaseAt) {
        leaseAt = timers.now() + this.#leaseMillis / 4;
        await this.#holdLease(engine);
      }
      const isElected = this.#hasLease && this.#part === "reader";
      const entries = await engine.read(this.#lastId, isElected ? 0 : this.#leaseMillis / 8);
      for (const entry of entries) this.#take(entry);
      if (isElected && entries.length === 0) this.#becomeWriter();
    }
  }

  /** Those that cannot find out anything leave the lease to others, and those whose upstreams are behind to others whose are not. */
  async #holdLease(engine: EventEngine): Promise<void> {
    const { leaderFitness } = this.#options.finder;
    if (!leaderFitness && this.#hasLease) await engine.release();
    this.#hasLease = leaderFitness !== undefined && (await engine.takeOrRenew({ isReady: leaderFitness === "ready" }));
    if (!this.#hasLease) this.#stopWriting();
  }

  /**
   * From now on this gateway tells what is in the stream. Of what is there already, that is new which came after the last head that it
   * has told; for one that has told none the story begins where the stream ends.
   */
  #join(entries: readonly StreamEntry[]): void {
    this.#options.finder.rest();
    this.#part = "reader";
    this.#trouble.isOver({});
    const { head } = this.#told;
    const events = entries.map((entry) => this.#read(entry));
    const isTold = (event: ChainEvent | undefined) =>
      head !== undefined && event?.topic === "head" && (headOf(event)?.slot ?? 0) <= head.slot;
    const told = head ? events.findLastIndex(isTold) + 1 : events.length;
    if (!head) for (const event of events) if (event) this.#told.note(event);
    for (const event of events.slice(told)) this.#tellNew(event);
    this.#lastId = entries.at(-1)?.id ?? BEFORE_ALL;
  }

  #becomeWriter(): void {
    this.#part = "writer";
    this.#options.finder.activate(this.#told.copy());
  }

  /** What was offered and is not in the stream is found out by the next writer, too. */
  #stopWriting(): void {
    if (this.#part !== "writer") return;
    this.#part = "reader";
    this.#options.finder.rest(this.#offered);
    this.#offered = [];
  }

  #goAlone(): void {
    if (this.#part === "alone") return;
    const wasWriter = this.#part === "writer";
    this.#part = "alone";
    for (const event of this.#offered.splice(0)) this.#tellNew(event);
    if (!wasWriter) this.#options.finder.activate(this.#told.copy());
  }

  /** Never rejects. */
  async #write(engine: EventEngine, event: ChainEvent): Promise<void> {
    try {
      if (await engine.write(event)) return;
      this.#hasLease = false;
      this.#stopWriting();
    } catch {
      // Whoever waits for entries is told that the engine fails.
      engine.stopReading();
    }
  }

  #take(entry: StreamEntry): void {
    this.#lastId = entry.id;
    // They come back in the order in which they were offered.
    if (entry.by === this.#token) this.#offered.shift();
    this.#tellNew(this.#read(entry));
  }

  #read({ id, event }: StreamEntry): ChainEvent | undefined {
    const read = event && isSteady(event.topic) ? readEvent(event) : undefined;
    if (read) this.#garbage.isOver({});
    else this.#garbage.met({ id });
    return read;
  }

  #tellNew(event: ChainEvent | undefined): void {
    if (!event || this.#told.has(event)) return;
    // After a time alone the stream may tell of heads that were told already.
    if (event.topic === "head" && this.#told.headWith(headOf(event)?.root ?? "")) return;
    this.#tell(event);
  }

  #tell(event: ChainEvent): void {
    this.#told.note(event);
    this.#options.tell(event);
  }
}
