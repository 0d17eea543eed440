import { type Scheduler, scheduler as threadScheduler } from "../scheduler.ts";
import type { EventReader, StreamEvent } from "./feed.ts";

/** What the events may take that have not gone to all their readers. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** What it takes to hold that an event has to go to a reader. */
const DELIVERY_BYTES = 8;

/** A reader of events from when it comes until it leaves. */
export class Subscriber {
  readonly #reader: EventReader;
  #state: "reading" | "behind" | "gone" = "reading";

  constructor(reader: EventReader) {
    this.#reader = reader;
  }

  /** Whether what happens now is for it. */
  get isReading(): boolean {
    return this.#state === "reading";
  }

  /** Cuts it off when its turn comes, instead of going on. */
  fallBehind(): void {
    if (this.#state === "reading") this.#state = "behind";
  }

  leave(): void {
    this.#state = "gone";
  }

  deliver(event: StreamEvent): void {
    if (this.#state === "reading") {
      this.#reader.deliver(event);
    } else if (this.#state === "behind") {
      this.cutOff();
    }
  }

  cutOff(): void {
    if (this.#state === "gone") return;
    this.#state = "gone";
    this.#reader.cutOff();
  }
}

/** An event on its way to its readers. */
interface Round {
  event: StreamEvent;
  subscribers: readonly Subscriber[];
  /** The position of the next one. */
  next: number;
  bytes: number;
}

/**
 * Delivers events to any number of readers: every event to all of them before the next one, over as many turns of the
 * event loop as it takes. Few readers get an event at once. When they are too many for the events that happen, those who came last are cut
 * off.
 */
export class FanOut {
  readonly #scheduler: Scheduler;
  readonly #rounds: Round[] = [];
  #waitingBytes = 0;
  /** Whether the rest waits for a later turn. */
  #isWaiting = false;

  constructor(scheduler: Scheduler = threadScheduler) {
    this.#scheduler = scheduler;
  }

  tell(event: StreamEvent, readers: Iterable<Subscriber>): void {
    const subscribers = Array.from(readers).filter(({ isReading }) => isReading);
    const bytes = event.data.length + DELIVERY_BYTES * subscribers.length;
    this.#rounds.push({ event, subscribers, next: 0, bytes });
    this.#waitingBytes += bytes;
    if (!this.#isWaiting) this.#deliverSome();
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#leaveBehind();
  }

  readonly #deliverSome = (): void => {
    this.#isWaiting = false;
    for (let round = this.#rounds[0]; round; round = this.#rounds[0]) {
      const { event, subscribers } = round;
      while (round.next < subscribers.length) {
        if (!this.#scheduler.hasTime) {
          this.#isWaiting = true;
          this.#scheduler.run("events", this.#deliverSome);
          return;
        }
        subscribers[round.next++]!.deliver(event);
      }
      this.#rounds.shift();
      this.#waitingBytes -= round.bytes;
    }
  };

  /** The later half of those that the oldest event has not reached get nothing more. */
  #leaveBehind(): void {
    const { subscribers, next } = this.#rounds[0]!;
    for (const subscriber of subscribers.slice(Math.ceil((next + subscribers.length) / 2))) subscriber.fallBehind();
  }
}
