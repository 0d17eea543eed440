import { randomBytes } from "node:crypto";
import { Failure } from "../../../errors/failure.ts";
import { ETH_TOPIC, type Feed, OVERLOAD_MESSAGE, type StreamEvent } from "../../events/feed.ts";
import { type ErrorObject, toErrorObject } from "../errors.ts";
import type { Outbox } from "./outbox.ts";

export interface SubscriptionLimits {
  /** Maximum number of subscriptions per connection. */
  subscriptions: number;
  /** Maximum number of bytes in unread events. */
  eventBytes: number;
}

interface Subscription {
  id: string;
  /** Events published before the subscription response was sent. Undefined afterwards. */
  early: EventBuffer | undefined;
  /** Closes the feed. May be called more than once. */
  end(): void;
}

interface EventBuffer {
  events: StreamEvent[];
  bytes: number;
}

const NOTIFICATION_END = Buffer.from("}}");

/** Counts the subscriptions on all connections. */
export class SubscriptionCount {
  readonly limit: number;
  value = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

/** A connection's subscriptions. If the client is slow, it is notified and loses the subscription. */
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

  /** Opens a subscription, and buffers its events until `release` is called. */
  start(feed: Feed): string {
    if (this.#closed) throw new Failure("unavailable", "The connection is closing.");
    if (this.#running.size >= this.#limits.subscriptions) {
      const message = `The connection has ${this.#limits.subscriptions} subscriptions, which is the limit. Unsubscribe from one first.`;
      throw new Failure("limit-exceeded", message);
    }
    if (this.#all.value >= this.#all.limit) {
      const message = `The limit of ${this.#all.limit} subscriptions of all clients (--max-connections) is reached. Retry later.`;
      throw new Failure("limit-exceeded", message);
    }
    const id = `0x${randomBytes(8).toString("hex")}`;
    const subscription: Subscription = {
      id,
      early: { events: [], bytes: 0 },
      end: feed.open({
        deliver: (event) => this.#deliver(subscription, event),
        disconnect: () => this.#disconnect(subscription),
      }),
    };
    this.#running.set(id, subscription);
    this.#all.value++;
    return id;
  }

  /** Starts delivery once the subscription response has been queued. */
  release(id: string): void {
    const subscription = this.#running.get(id);
    const buffered = subscription?.early;
    if (!subscription || !buffered) return;
    subscription.early = undefined;
    for (const event of buffered.events) {
      if (this.#running.has(id)) this.#deliver(subscription, event);
    }
    if (this.#running.has(id) && buffered.bytes > this.#limits.eventBytes) this.#endSlow(subscription);
  }

  close(id: string): boolean {
    this.#running.get(id)?.end();
    if (!this.#running.delete(id)) return false;
    this.#all.value--;
    return true;
  }

  closeAll(): void {
    this.#closed = true;
    for (const id of this.#running.keys()) this.close(id);
  }

  /** Closes all subscriptions and sends an error to the client. */
  closeAllWithError(error: ErrorObject): void {
    const ended = [...this.#running.keys()];
    this.closeAll();
    for (const id of ended) this.#notifyEnd(id, error);
  }

  #deliver(subscription: Subscription, event: StreamEvent): void {
    if (subscription.early) this.#buffer(subscription, subscription.early, event);
    else this.#send(subscription, event);
  }

  #buffer(subscription: Subscription, early: EventBuffer, event: StreamEvent): void {
    early.bytes += event.data.length;
    if (early.bytes <= this.#limits.eventBytes) early.events.push(event);
    else subscription.end();
  }

  #send(subscription: Subscription, event: StreamEvent): void {
    const notification = eventNotification(subscription.id, event);
    const isTooSlow = this.#outbox.eventBytes + notification.length > this.#limits.eventBytes;
    if (isTooSlow || !this.#outbox.sendEvent(notification)) this.#endSlow(subscription);
  }

  #disconnect({ id, early }: Subscription): void {
    if (early) {
      // The client is notified once it has received the subscription id.
      early.bytes = Number.POSITIVE_INFINITY;
    } else {
      this.close(id);
      this.#notifyEnd(id, toErrorObject(new Failure("limit-exceeded", `Subscription ended. ${OVERLOAD_MESSAGE}`)));
    }
  }

  #endSlow({ id }: Subscription): void {
    this.close(id);
    const message =
      `Subscription ended: the client reads too slowly. More than ${this.#limits.eventBytes} bytes of events are unread, ` +
      `or the memory limit for unread data of all clients is reached.`;
    this.#notifyEnd(id, toErrorObject(new Failure("limit-exceeded", message)));
  }

  #notifyEnd(subscription: string, error: ErrorObject): void {
    const params = { subscription, error };
    this.#outbox.sendNotice(Buffer.from(JSON.stringify({ jsonrpc: "2.0", method: "subscription", params })));
  }
}

/** Encodes a notification. `data` is already JSON. Ids and topics need no escaping. */
function eventNotification(id: string, { topic, data }: StreamEvent): Buffer {
  const open =
    topic === ETH_TOPIC
      ? `{"jsonrpc":"2.0","method":"${ETH_TOPIC}","params":{"subscription":"${id}","result":`
      : `{"jsonrpc":"2.0","method":"subscription","params":{"subscription":"${id}","topic":"${topic}","data":`;
  return Buffer.concat([Buffer.from(open), data, NOTIFICATION_END]);
}
