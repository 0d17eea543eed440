/** Opens many subscriptions to heads, and compares what each received with the published heads. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { WebSocket } from "ws";
import { parentGone, report } from "../support/child.ts";
import type { NodeAddresses, PublishedHead } from "./node-process.ts";

export interface SubscribersReady {
  /** Time to open all subscriptions. */
  millis: number;
}

export interface Delivery {
  /** Subscribers that received exactly the published heads, in order. */
  complete: number;
  delayMillis: { median: string; p99: string; longest: string };
}

interface ReceivedHead {
  slot: string;
  block: string;
  time: number;
}

/** Events that have not arrived by then count as missing. */
const TIMEOUT_MILLIS = 60_000;

class Subscriber {
  readonly heads: ReceivedHead[] = [];
  #waiting: { count: number; resolve(): void } | undefined;

  receive({ slot, block }: { slot: string; block: string }): void {
    this.heads.push({ slot, block, time: performance.timeOrigin + performance.now() });
    if (this.#waiting && this.heads.length >= this.#waiting.count) this.#waiting.resolve();
  }

  reached(count: number): Promise<void> {
    if (this.heads.length >= count) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting = { count, resolve };
    });
  }
}

const subscribers: Subscriber[] = [];

process.on("message", (message: (NodeAddresses & { subscribers: number }) | { heads: PublishedHead[] }) => {
  if ("heads" in message) void compare(message.heads).then(report);
  else void connect(message, message.subscribers).then(report);
});
report({ ready: true });
await parentGone();
process.exit();

async function connect({ jsonRpcUrl, restUrl }: NodeAddresses, count: number): Promise<SubscribersReady> {
  const start = performance.now();
  const together = 50;
  while (subscribers.length < count) {
    const pairs = Math.ceil(Math.min(together, count - subscribers.length) / 2);
    const opening = Array.from({ length: pairs }, () => [subscribeSse(restUrl), subscribeWebSocket(jsonRpcUrl)]);
    subscribers.push(...(await Promise.all(opening.flat())));
  }
  return { millis: performance.now() - start };
}

async function subscribeSse(url: string): Promise<Subscriber> {
  const subscriber = new Subscriber();
  const [response] = (await once(request(`${url}/eth/v1/events?topics=head`, { agent: false }).end(), "response")) as [
    IncomingMessage,
  ];
  if (response.statusCode !== 200) throw new Error(`The node answered ${response.statusCode}.`);
  let rest = "";
  response.setEncoding("utf8").on("data", (text: string) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith("event: head\n")) subscriber.receive(JSON.parse(block.slice(block.indexOf("data: ") + 6)));
    }
  });
  return subscriber;
}

async function subscribeWebSocket(url: string): Promise<Subscriber> {
  const subscriber = new Subscriber();
  const socket = new WebSocket(url.replace("http", "ws"));
  await once(socket, "open");
  socket.send('{"jsonrpc":"2.0","id":1,"method":"subscribe","params":[["head"]]}');
  await once(socket, "message");
  socket.on("message", (data) => subscriber.receive(JSON.parse(data.toString()).params.data));
  return subscriber;
}

async function compare(heads: PublishedHead[]): Promise<Delivery> {
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, TIMEOUT_MILLIS).unref());
  await Promise.race([timeout, Promise.all(subscribers.map((subscriber) => subscriber.reached(heads.length)))]);
  const wanted = JSON.stringify(heads.map(({ slot, block }) => [slot, block]));
  const complete = subscribers.filter(
    (subscriber) => JSON.stringify(subscriber.heads.map(({ slot, block }) => [slot, block])) === wanted,
  ).length;
  const published = new Map(heads.map(({ block, time }) => [block, time]));
  const delays = subscribers
    .flatMap((subscriber) => subscriber.heads.map(({ block, time }) => time - (published.get(block) ?? time)))
    .sort((a, b) => a - b);
  const at = (share: number) => (delays[Math.floor(share * (delays.length - 1))] ?? Number.NaN).toFixed(1);
  return { complete, delayMillis: { median: at(0.5), p99: at(0.99), longest: at(1) } };
}
