import { type Scheduler, scheduler as threadScheduler } from "../scheduler.ts";
import type { EventReader, StreamEvent } from "./feed.ts";

/** Maximum total size of undelivered events. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
/** Estimated memory for one pending delivery. */
const DELIVERY_BYTES = 8;

/** A client's subscription to an event stream. */
export class Subscriber {
  readonly #reader: EventReader;
  #state: "reading" | "slow" | "gone" = "reading";

  constructor(reader: EventReader) {
    this.#reader = reader;
  }

  /** True if the reader receives new events. */
  get isReading(): boolean {
    return this.#state === "reading";
  }

  /** Marks the reader as too slow. It is disconnected at its next delivery. */
  markSlow(): void {
    if (this.#state === "reading") this.#state = "slow";
  }

  unsubscribe(): void {
    this.#state = "gone";
  }

  deliver(event: StreamEvent): void {
    if (this.#state === "reading") {
      this.#reader.deliver(event);
    } else if (this.#state === "slow") {
      this.disconnect();
    }
  }

  disconnect(): void {
    if (this.#state === "gone") return;
    this.#state = "gone";
    this.#reader.disconnect();
  }
}

/** Delivery of one event. */
interface Delivery {
  event: StreamEvent;
  subscribers: readonly Subscriber[];
  /** Index of the next subscriber to receive the event. */
  next: number;
  bytes: number;
}

/**
 * Delivers events to many readers in order: each event is delivered to all readers before the next event. Yields to the
 * event loop between deliveries. On overload, the readers that subscribed last are disconnected.
 */
export class FanOut {
  readonly #scheduler: Scheduler;
  readonly #deliveries: Delivery[] = [];
  #pendingBytes = 0;
  /** True if the remaining deliveries are scheduled for a later turn. */
  #isScheduled = false;

  constructor(scheduler: Scheduler = threadScheduler) {
    this.#scheduler = scheduler;
  }

  /** Queues an event for delivery to all current readers. */
  publish(event: StreamEvent, readers: Iterable<Subscriber>): void {
    const subscribers = Array.from(readers).filter(({ isReading }) => isReading);
    const bytes = event.data.length + DELIVERY_BYTES * subscribers.length;
    this.#deliveries.push({ event, subscribers, next: 0, bytes });
    this.#pendingBytes += bytes;
    if (!this.#isScheduled) this.#deliverSome();
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#shedLoad();
  }

  readonly #deliverSome = (): void => {
    this.#isScheduled = false;
    for (let delivery = this.#deliveries[0]; delivery; delivery = this.#deliveries[0]) {
      const { event, subscribers } = delivery;
      while (delivery.next < subscribers.length) {
        if (!this.#scheduler.hasTime) {
          this.#isScheduled = true;
          this.#scheduler.run("events", this.#deliverSome);
          return;
        }
        subscribers[delivery.next++]!.deliver(event);
      }
      this.#deliveries.shift();
      this.#pendingBytes -= delivery.bytes;
    }
  };

  /** Of the readers still waiting for the oldest event, disconnects the half that subscribed later. */
  #shedLoad(): void {
    const { subscribers, next } = this.#deliveries[0]!;
    for (const subscriber of subscribers.slice(Math.ceil((next + subscribers.length) / 2))) subscriber.markSlow();
  }
}
