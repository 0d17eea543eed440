/** Client that reads long answers without parsing them. */
import { createWriteStream } from "node:fs";
import { Agent, request } from "node:http";
import { finished } from "node:stream/promises";
import { parentGone, report } from "../support/child.ts";

export interface ReadRequest {
  method: "GET" | "POST";
  headers: Record<string, string>;
  /** Empty for a request without a body. */
  body: string;
}

export interface ReadOrder extends ReadRequest {
  url: string;
  /** Number of concurrent requests. */
  concurrency: number;
  /** Number of sequential repetitions. */
  times: number;
  /** File for the response. Not for measurements. */
  saveTo?: string;
}

export interface ReadReport {
  /** Duration of each repetition, until the last concurrent response is complete. */
  millis: number[];
  /** Size of one response. */
  bytes: number;
}

const agent = new Agent({ keepAlive: true });

process.on("message", (order: ReadOrder) => {
  void readAll(order).then(report);
});
report({ ready: true });
await parentGone();
// Aborts pending reads.
process.exit();

async function readAll(order: ReadOrder): Promise<ReadReport> {
  const millis: number[] = [];
  let bytes = 0;
  for (let time = 0; time < order.times; time++) {
    const began = performance.now();
    const lengths = await Promise.all(Array.from({ length: order.concurrency }, () => read(order)));
    millis.push(performance.now() - began);
    bytes = lengths[0]!;
  }
  return { millis, bytes };
}

/** Reads the response. Returns the length of its body. */
function read({ url, method, headers, body, saveTo }: ReadOrder): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { agent, method, headers }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`${url} returned status ${response.statusCode}.`));
    if (saveTo !== undefined) {
      const file = response.pipe(createWriteStream(saveTo));
      finished(file).then(() => resolve(file.bytesWritten), reject);
      return;
    }
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    response.on("end", () => resolve(bytes));
    response.on("error", reject);
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}
