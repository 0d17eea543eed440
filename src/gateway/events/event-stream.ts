import type { Timers } from "../../async/timers.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import { HttpClient } from "../../http-client/http-client.ts";
import type { Logger } from "../../log/logger.ts";
import { Trouble } from "../../log/trouble.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { UpstreamOptions } from "../options.ts";
import { Overlap } from "./overlap.ts";
import { reasonOf } from "./reason.ts";
import { Subscription, SubscriptionRefused } from "./subscription.ts";
import { STEADY_TOPICS } from "./topics.ts";

const FIRST_WAIT_MILLIS = 250;
const LONGEST_WAIT_MILLIS = 15_000;
/** A stream that was open for so long, or told something, has been of use: after it, waits begin anew. */
const USEFUL_MILLIS = 2000;
/** What an old connection has told comes on the new one within this time. */
const OVERLAP_MILLIS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Whoever does not know a topic refuses it within this time, whereas those who know it may wait with their answer for an event. */
const REFUSAL_MILLIS = 2000;
/** How long the topics that are followed stay as they are when others cannot be. */
const OTHER_TOPICS_WAIT_MILLIS = 5000;

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
  tell: (event: StreamEvent) => void;
}

/** The events of one upstream on one connection: whenever it breaks off the upstream is asked again. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #http: HttpClient;
  readonly #pathPrefix: string;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #topics: readonly string[] = STEADY_TOPICS;
  /** Those that the upstream does not know. */
  readonly #unknown = new Set<string>();
  #onTopicsChanged: () => void = () => {};
  /** Those that are open or being opened, and when there was a sign of life of each. */
  readonly #heardAt = new Map<Subscription, number>();
  /** When what is open now has been of use. */
  #usefulFrom = Number.POSITIVE_INFINITY;
  readonly #trouble: Trouble;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const { url, authorization } = options.upstream;
    this.#http = new HttpClient(url, {
      headers: authorization === undefined ? {} : { authorization },
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headersTimeoutMs: 0,
      bodyTimeoutMs: 0,
    });
    this.#pathPrefix = new URL(url).pathname.replace(/\/+$/, "");
    this.#trouble = new Trouble(options.logger, {
      begins: "An upstream does not let other topics of events be followed; it is asked again",
      ends: "An upstream lets other topics of events be followed again",
    });
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
    this.#http.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { timers, listener, silentMillis } = this.#options;
    const endWatch = timers.every(silentMillis / 4, () => this.#endSilent());
    let wait = FIRST_WAIT_MILLIS;
    while (!this.#isClosed) {
      this.#usefulFrom = Number.POSITIVE_INFINITY;
      const reason = await this.#followUntilBroken();
      if (this.#isClosed) break;
      listener.broke(reason);
      if (timers.now() >= this.#usefulFrom) wait = FIRST_WAIT_MILLIS;
      await this.#pause(wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MILLIS);
    }
    endWatch();
  }

  /** One that is opened beside another has something to tell when the other one does. */
  #endSilent(): void {
    const { timers, silentMillis } = this.#options;
    const [oldestHeardAt = 0] = this.#heardAt.values();
    for (const [subscription, heardAt] of this.#heardAt) {
      if (timers.now() - heardAt <= silentMillis) continue;
      if (heardAt >= oldestHeardAt && this.#options.hasNothingToTell()) continue;
      subscription.end(new OperationalError(`There was no sign of life for more than ${silentMillis} ms.`));
    }
  }

  /** Resolves with the reason when it has broken off. */
  async #followUntilBroken(): Promise<Error> {
    const { listener, upstream } = this.#options;
    // Whoever was away may have learned new topics.
    this.#unknown.clear();
    try {
      let reading = this.#read(await this.#subscribe(), (event) => {
        this.#usefulFrom = Number.NEGATIVE_INFINITY;
        listener.event(event);
      });
      this.#usefulFrom = this.#options.timers.now() + USEFUL_MILLIS;
      listener.connected();
      this.#trouble.isOver({ upstream: upstream.name });
      for (;;) {
        const reason = await Promise.race([reading.ended, this.#topicsChangedFrom(reading.subscription.topics)]);
        if (reason) return reason;
        reading = await this.#replace(reading);
      }
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      for (const subscription of this.#heardAt.keys()) subscription.end();
    }
  }

  #read(subscription: Subscription, tell: (event: StreamEvent) => void): Reading {
    const noteLife = () => this.#heardAt.set(subscription, this.#options.timers.now());
    noteLife();
    const ended = subscription
      .read((event) => reading.tell(event), noteLife)
      .finally(() => this.#heardAt.delete(subscription));
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

  /** Until another one can be opened the old one goes on. */
  async #replace(old: Reading): Promise<Reading> {
    const { tell } = old;
    try {
      return await this.#openBeside(old);
    } catch (error) {
      old.tell = tell;
      await this.#leaveOutUnknown(error, old.subscription.topics).catch(async () => {
        if (this.#isClosed) return;
        this.#trouble.met({ upstream: this.#options.upstream.name, reason: reasonOf(error) });
        await Promise.race([this.#pause(OTHER_TOPICS_WAIT_MILLIS), old.ended]);
      });
      return old;
    }
  }

  /**
   * Opens a connection for other topics beside the one that there is, so that nothing is missed and nothing comes twice. Resolves with
   * the old one when that breaks off meanwhile.
   */
  async #openBeside(old: Reading): Promise<Reading> {
    const { listener, upstream } = this.#options;
    const { tell } = old;
    const wanted = this.#wanted();
    const commonTopics = wanted.filter((topic) => old.subscription.topics.includes(topic));
    const overlap = new Overlap(commonTopics, (event) => listener.event(event));
    old.tell = (event) => {
      overlap.noteOld(event);
      tell(event);
    };
    const subscription = await Promise.race([this.#open(wanted), old.ended]);
    if (subscription instanceof Error) return old;
    const reading = this.#read(subscription, overlap.fromNew);
    await Promise.race([this.#pause(OVERLAP_MILLIS), old.ended, reading.ended]);
    if (old.subscription.isOver) return old;
    if (subscription.isOver) throw await reading.ended;
    old.subscription.end();
    overlap.end();
    this.#trouble.isOver({ upstream: upstream.name });
    return reading;
  }

  async #subscribe(): Promise<Subscription> {
    for (;;) {
      try {
        return await this.#open(this.#wanted());
      } catch (error) {
        await this.#leaveOutUnknown(error);
      }
    }
  }

  async #open(topics: readonly string[]): Promise<Subscription> {
    const subscription = new Subscription(topics);
    this.#heardAt.set(subscription, this.#options.timers.now());
    try {
      await this.#request(subscription);
      return subscription;
    } catch (error) {
      this.#heardAt.delete(subscription);
      throw error;
    }
  }

  /**
   * Some upstreams refuse a subscription for one topic that they do not know: then each is asked about by itself, but for those that are
   * accepted. Throws the error again if it has another reason.
   */
  async #leaveOutUnknown(error: unknown, accepted: readonly string[] = []): Promise<void> {
    if (!isRefusal(error)) throw error;
    const { upstream, logger } = this.#options;
    const inQuestion = this.#wanted().filter((topic) => !accepted.includes(topic));
    const answers = await Promise.all(inQuestion.map((topic) => this.#knows(topic)));
    const unknown = inQuestion.filter((_, index) => !answers[index]);
    if (unknown.length === 0 || unknown.includes("head")) throw error;
    for (const topic of unknown) this.#unknown.add(topic);
    logger.info("An upstream does not know some topics of events", {
      upstream: upstream.name,
      topics: [...this.#unknown].join(),
    });
  }

  async #knows(topic: string): Promise<boolean> {
    const subscription = new Subscription([topic]);
    try {
      await Promise.race([this.#request(subscription), this.#pause(REFUSAL_MILLIS)]);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    } finally {
      subscription.end();
    }
  }

  #request(subscription: Subscription): Promise<void> {
    return subscription.open(this.#http, this.#pathPrefix, this.#closing.signal);
  }

  #pause(millis: number): Promise<void> {
    return this.#options.timers.sleep(millis, this.#closing.signal).catch(() => {});
  }
}

const isRefusal = (error: unknown): boolean => error instanceof SubscriptionRefused && error.status === 400;
