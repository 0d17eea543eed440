import { Agent } from "undici";
import { ForeseenError } from "../../foreseen-error.ts";
import type { Logger } from "../../log/logger.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { Timers } from "../../timers.ts";
import type { UpstreamOptions } from "../options.ts";
import { Overlap } from "./overlap.ts";
import { Subscription, SubscriptionRefused } from "./subscription.ts";
import { STEADY_TOPICS } from "./topics.ts";

const FIRST_WAIT_MILLIS = 250;
const LONGEST_WAIT_MILLIS = 15_000;
/** What an old connection has told comes on the new one within this time. */
const OVERLAP_MILLIS = 1000;
const CONNECT_MILLIS = 10_000;

export interface EventStreamListener {
  /** From now on every event is told. */
  connected(): void;
  event(event: StreamEvent): void;
  /** Events may be missed until it is connected again. */
  broke(reason: Error): void;
}

export interface EventStreamOptions {
  readonly upstream: UpstreamOptions;
  /** After so long without a sign of life it counts as broken, unless there was nothing to tell. */
  readonly silentMillis: number;
  hasNothingToTell(): boolean;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly listener: EventStreamListener;
}

/** A connection that is being read. */
interface Reading {
  readonly subscription: Subscription;
  readonly ended: Promise<Error>;
  /** Whom its events go to. */
  tell(event: StreamEvent): void;
}

/** The events of one upstream on one connection: whenever it breaks off the upstream is asked again. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #dispatcher = new Agent({
    bodyTimeout: 0,
    headersTimeout: CONNECT_MILLIS,
    connect: { timeout: CONNECT_MILLIS },
  });
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #topics: readonly string[] = STEADY_TOPICS;
  /** Those that the upstream does not know. */
  readonly #unknown = new Set<string>();
  #onTopicsChanged: () => void = () => {};
  #heardAt: number;
  readonly #open = new Set<Subscription>();

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#heardAt = options.timers.now();
    this.#running = this.#run();
  }

  /** Follows these topics, too, beside those that are always followed. */
  follow(topics: Iterable<string>): void {
    this.#topics = [...new Set([...STEADY_TOPICS, ...topics])];
    this.#onTopicsChanged();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#dispatcher.destroy();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { timers, listener, silentMillis } = this.#options;
    const endWatch = timers.every(silentMillis / 4, () => {
      if (timers.now() - this.#heardAt <= silentMillis || this.#options.hasNothingToTell()) return;
      const reason = new ForeseenError(`There was no sign of life for more than ${silentMillis} ms.`);
      for (const subscription of this.#open) subscription.end(reason);
    });
    let wait = FIRST_WAIT_MILLIS;
    while (!this.#isClosed) {
      const begun = timers.now();
      const reason = await this.#followUntilBroken();
      if (this.#isClosed) break;
      listener.broke(reason);
      if (timers.now() - begun > LONGEST_WAIT_MILLIS) wait = FIRST_WAIT_MILLIS;
      await this.#pause(wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MILLIS);
    }
    endWatch();
  }

  /** Resolves with the reason when it has broken off. */
  async #followUntilBroken(): Promise<Error> {
    const { listener } = this.#options;
    // Whoever was away may have learned new topics.
    this.#unknown.clear();
    try {
      let reading = this.#read(await this.#subscribe(), (event) => listener.event(event));
      listener.connected();
      for (;;) {
        const reason = await Promise.race([reading.ended, this.#topicsChangedFrom(reading.subscription.topics)]);
        if (reason) return reason;
        reading = await this.#replace(reading);
      }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      for (const subscription of this.#open) subscription.end();
    }
  }

  #read(subscription: Subscription, tell: (event: StreamEvent) => void): Reading {
    const { timers } = this.#options;
    this.#open.add(subscription);
    this.#heardAt = timers.now();
    const onBytes = () => {
      this.#heardAt = timers.now();
    };
    const ended = subscription
      .read((event) => reading.tell(event), onBytes)
      .finally(() => this.#open.delete(subscription));
    const reading = { subscription, ended, tell };
    return reading;
  }

  /** Resolves when other topics are to be followed than these. */
  async #topicsChangedFrom(topics: readonly string[]): Promise<undefined> {
    while (this.#wanted().join() === topics.join()) {
      await new Promise<void>((resolve) => {
        this.#onTopicsChanged = resolve;
      });
    }
  }

  #wanted(): string[] {
    return this.#topics.filter((topic) => !this.#unknown.has(topic));
  }

  /** Opens a connection for other topics beside the one that there is, so that nothing is missed and nothing comes twice. */
  async #replace(old: Reading): Promise<Reading> {
    const { listener } = this.#options;
    const subscription = await this.#subscribe();
    if (old.subscription.isOver) {
      listener.broke(await old.ended);
      const reading = this.#read(subscription, (event) => listener.event(event));
      listener.connected();
      return reading;
    }
    const overlap = new Overlap(old.subscription.topics, (event) => listener.event(event));
    old.tell = overlap.fromOld;
    const reading = this.#read(subscription, overlap.fromNew);
    await Promise.race([this.#pause(OVERLAP_MILLIS), old.ended]);
    old.subscription.end();
    overlap.end();
    return reading;
  }

  /** Some upstreams refuse a subscription for one topic that they do not know: then each is asked about by itself. */
  async #subscribe(): Promise<Subscription> {
    const { upstream, logger } = this.#options;
    try {
      return await this.#request(this.#wanted());
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const before = this.#unknown.size;
      for (const topic of this.#wanted()) if (!(await this.#knows(topic))) this.#unknown.add(topic);
      if (this.#unknown.size === before || this.#unknown.has("head")) throw error;
      logger.info("An upstream does not know some topics of events", {
        upstream: upstream.name,
        topics: [...this.#unknown].join(),
      });
      return this.#request(this.#wanted());
    }
  }

  async #knows(topic: string): Promise<boolean> {
    try {
      (await this.#request([topic])).end();
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }

  #request(topics: readonly string[]): Promise<Subscription> {
    return Subscription.open(this.#options.upstream, topics, {
      dispatcher: this.#dispatcher,
      signal: this.#closing.signal,
    });
  }

  #pause(millis: number): Promise<void> {
    return this.#options.timers.sleep(millis, this.#closing.signal).catch(() => {});
  }
}

const isRefusal = (error: unknown): boolean => error instanceof SubscriptionRefused && error.status === 400;
