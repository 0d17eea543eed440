/** Client with one connection that makes a small call every 10 ms and reports the latencies. */
import { Agent, request } from "node:http";
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentGone, report } from "../support/child.ts";

export interface ProbedCall {
  title: string;
  body: string;
}

/** Starts the calls, or stops and reports if `url` is null. */
export type ProbeOrder = { url: string; calls: readonly ProbedCall[] } | { url: null };

export interface Probed {
  title: string;
  /** Unix time in milliseconds. */
  at: number;
  millis: number;
}

export interface ProbeReport {
  probed: Probed[];
}

const INTERVAL_MS = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let stop = (): Promise<Probed[]> => Promise.resolve([]);

process.on("message", (order: ProbeOrder) => {
  if (order.url === null) {
    void stop().then((probed) => report({ probed } satisfies ProbeReport));
    return;
  }
  stop = probe(order.url, order.calls);
  report({ started: true });
});
try {
  setPriority(constants.priority.PRIORITY_HIGH);
} catch {
  // Without permission, the latencies include scheduling delays of this process.
}
report({ ready: true });
await parentGone();
// Aborts pending calls.
process.exit();

function probe(url: string, calls: readonly ProbedCall[]): () => Promise<Probed[]> {
  let isStopped = false;
  const run = async () => {
    const probed: Probed[] = [];
    for (let count = 0; !isStopped; count++) {
      const { title, body } = calls[count % calls.length]!;
      const began = performance.now();
      await call(url, body);
      const millis = performance.now() - began;
      // Also counts the calls that were due during a slow one (coordinated omission).
      for (let missed = 0; missed * INTERVAL_MS <= millis; missed++) {
        const at = performance.timeOrigin + began + missed * INTERVAL_MS;
        probed.push({ title, at, millis: millis - missed * INTERVAL_MS });
      }
      if (millis < INTERVAL_MS) await sleep(INTERVAL_MS - millis);
    }
    return probed;
  };
  const done = run();
  return () => {
    isStopped = true;
    return done;
  };
}

function call(url: string, body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  const sent = request(url, { agent, method: "POST", headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      // After a start from a bare state, the head block is unknown until the next block.
      if (text.includes('"result":') || text.includes('"code":-32001')) resolve();
      else reject(new Error(`A small call failed: ${text}`));
    });
    response.on("error", reject);
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}
