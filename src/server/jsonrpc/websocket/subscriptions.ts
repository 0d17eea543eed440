import { randomBytes } from "node:crypto";
import { Failure } from "../../../errors/failure.ts";
import { type Feed, type StreamEvent, TOO_MANY_READERS } from "../../events/feed.ts";
import { thrownError } from "../errors.ts";
import type { Outbox } from "./outbox.ts";

export interface SubscriptionLimits {
  /** How many subscriptions a connection may have at once. */
  subscriptions: number;
  /** How far a reader may fall behind the events. */
  eventBytes: number;
}

interface Subscription {
  id: string;
  /** Events from before the answer that tells the id; undefined from then on. */
  early: EarlyEvents | undefined;
  /** May be called again. */
  end(): void;
}

interface EarlyEvents {
  events: StreamEvent[];
  bytes: number;
}

const NOTIFICATION_END = Buffer.from("}}");

/** Counts the subscriptions of all connections. */
export class SubscriptionCount {
  readonly limit: number;
  value = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

/** The subscriptions of one connection. A reader that falls too far behind is told so, and its subscription ends. */
export class Subscriptions {
  readonly #outbox: Outbox;
  readonly #limits: SubscriptionLimits;
  readonly #all: SubscriptionCount;
  readonly #running = new Map<string, Subscription>();
  #closed = false;

  constructor(outbox: Outbox, limits: SubscriptionLimits, all: SubscriptionCount) {
    this.#outbox = outbox;
    this.#limits = limits;
    this.#all = all;
  }

  /** Its events are held back until `release`. */
  start(feed: Feed): string {
    if (this.#closed) throw new Failure("unavailable", "The connection is closing.");
    if (this.#running.size >= this.#limits.subscriptions) {
      const message = `A connection may have at most ${this.#limits.subscriptions} subscriptions; unsubscribe from one first.`;
      throw new Failure("limit-exceeded", message);
    }
    if (this.#all.value >= this.#all.limit) {
      const message = `There are ${this.#all.limit} subscriptions already, of all clients together, and no more are served.`;
      throw new Failure("limit-exceeded", message);
    }
    const id = `0x${randomBytes(8).toString("hex")}`;
    const subscription: Subscription = {
      id,
      early: { events: [], bytes: 0 },
      end: feed.open({
        deliver: (event) => this.#deliver(subscription, event),
        cutOff: () => this.#cutOff(subscription),
      }),
    };
    this.#running.set(id, subscription);
    this.#all.value++;
    return id;
  }

  /** To be called when the answer that tells the id is on its way. */
  release(id: string): void {
    const subscription = this.#running.get(id);
    const early = subscription?.early;
    if (!subscription || !early) return;
    subscription.early = undefined;
    for (const event of early.events) {
      if (this.#running.has(id)) this.#deliver(subscription, event);
    }
    if (this.#running.has(id) && early.bytes > this.#limits.eventBytes) this.#cut(subscription);
  }

  end(id: string): boolean {
    this.#running.get(id)?.end();
    if (!this.#running.delete(id)) return false;
    this.#all.value--;
    return true;
  }

  close(): void {
    this.#closed = true;
    for (const id of this.#running.keys()) this.end(id);
  }

  /** As `close`, for a reader that has to learn why no more events come. */
  closeBecause(reason: string): void {
    const ended = [...this.#running.keys()];
    this.close();
    for (const id of ended) this.#tellEnd(id, new Failure("unavailable", `The subscription ended. ${reason}`));
  }

  #deliver(subscription: Subscription, event: StreamEvent): void {
    if (subscription.early) this.#hold(subscription, subscription.early, event);
    else this.#send(subscription, event);
  }

  #hold(subscription: Subscription, early: EarlyEvents, event: StreamEvent): void {
    early.bytes += event.data.length;
    if (early.bytes <= this.#limits.eventBytes) early.events.push(event);
    else subscription.end();
  }

  #send(subscription: Subscription, event: StreamEvent): void {
    const notification = eventNotification(subscription.id, event);
    const isBehind = this.#outbox.eventBytes + notification.length > this.#limits.eventBytes;
    if (isBehind || !this.#outbox.event(notification)) this.#cut(subscription);
  }

  #cutOff({ id, early }: Subscription): void {
    if (early) {
      // The client learns of the end when it knows of the subscription.
      early.bytes = Number.POSITIVE_INFINITY;
    } else {
      this.end(id);
      this.#tellEnd(id, new Failure("limit-exceeded", `The subscription ended. ${TOO_MANY_READERS}`));
    }
  }

  #cut({ id }: Subscription): void {
    this.end(id);
    const message =
      `The subscription ended because its events were read too slowly: more than ${this.#limits.eventBytes} bytes of ` +
      "events waited for this connection, or all clients together have left more unread than the node holds.";
    this.#tellEnd(id, new Failure("limit-exceeded", message));
  }

  #tellEnd(subscription: string, failure: Failure): void {
    const params = { subscription, error: thrownError(failure) };
    this.#outbox.notice(Buffer.from(JSON.stringify({ jsonrpc: "2.0", method: "subscription", params })));
  }
}

/** The data is encoded already and the same for all; ids and topics need no escapes. */
function eventNotification(id: string, { topic, data }: StreamEvent): Buffer {
  const start = `{"jsonrpc":"2.0","method":"subscription","params":{"subscription":"${id}","topic":"${topic}","data":`;
  return Buffer.concat([Buffer.from(start), data, NOTIFICATION_END]);
}
