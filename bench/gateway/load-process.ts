/**
 * Load generator: keeps one request in flight per connection and reports the latency of each. It speaks HTTP on raw
 * sockets, because a full HTTP client needs more CPU time than the servers under test.
 */
import { connect, type Socket } from "node:net";
import { parentGone, report } from "../support/child.ts";

export interface LoadOrder {
  port: number;
  /** Raw HTTP requests. Each connection starts at a different one. */
  requests: readonly string[];
  connections: number;
  seconds: number;
}

export interface LoadReport {
  /** Unix time of each request in milliseconds. */
  sentAt: number[];
  /** Latency of each request. */
  millis: number[];
  /** Unexpected responses. */
  failures: string[];
  seconds: number;
}

process.on("message", (order: LoadOrder) => {
  void load(order).then(report);
});
report({ ready: true });
await parentGone();

async function load(order: LoadOrder): Promise<LoadReport> {
  const loaded: LoadReport = { sentAt: [], millis: [], failures: [], seconds: 0 };
  const began = performance.now();
  const end = began + order.seconds * 1000;
  await Promise.all(Array.from({ length: order.connections }, (_, first) => repeat(order, first, end, loaded)));
  loaded.seconds = (performance.now() - began) / 1000;
  return loaded;
}

/** Repeats requests on one connection. Reconnects if the server closes it. */
async function repeat(
  { port, requests, connections }: LoadOrder,
  first: number,
  end: number,
  loaded: LoadReport,
): Promise<void> {
  const bytes = requests.map((request) => Buffer.from(request));
  let next = first;
  do {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket: Socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    let sentAt = 0;
    let seen = "";
    let length: number | undefined;
    const send = () => {
      next = (next + connections) % bytes.length;
      sentAt = performance.now();
      socket.write(bytes[next]!);
    };
    const over = (answer: string) => {
      loaded.sentAt.push(performance.timeOrigin + sentAt);
      loaded.millis.push(performance.now() - sentAt);
      if (!isGood(answer)) loaded.failures.push(answer.slice(0, 300));
    };
    socket.on("connect", send);
    socket.on("data", (chunk: Buffer) => {
      seen += chunk.toString("latin1");
      length ??= lengthOf(seen);
      if (length === undefined || seen.length < length) return;
      over(seen);
      seen = "";
      length = undefined;
      if (performance.now() < end) send();
      else socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      // The server may close an idle connection at any time, but not one with a request in flight.
      if (length !== undefined || (performance.now() < end && sentAt > 0)) over("The connection was closed.");
      resolve();
    });
    await promise;
  } while (performance.now() < end);
}

/** Length of the whole response, or undefined until its headers are complete. */
function lengthOf(seen: string): number | undefined {
  const headEnd = seen.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  return headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(seen)?.[1]);
}

function isGood(answer: string): boolean {
  return answer.startsWith("HTTP/1.1 200 ") && /"(?:result|data)":/.test(answer) && !answer.includes('"error":');
}
