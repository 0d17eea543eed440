/** A client that reads long answers to their end, and leaves them unparsed. */
import { createWriteStream } from "node:fs";
import { Agent, request } from "node:http";
import { finished } from "node:stream/promises";
import { parentGone, report } from "../support/child.ts";

export interface ReadRequest {
  method: "GET" | "POST";
  headers: Record<string, string>;
  /** Empty for one without a body. */
  body: string;
}

export interface ReadOrder extends ReadRequest {
  url: string;
  /** How many ask for the same at the same time. */
  concurrency: number;
  /** How often, one time after the other. */
  times: number;
  /** Where the answer is left, if anywhere; then nothing is to be measured. */
  saveTo?: string;
}

export interface ReadReport {
  /** Of each time, until the last of those who asked has everything. */
  millis: number[];
  /** Of one answer. */
  bytes: number;
}

const agent = new Agent({ keepAlive: true });

process.on("message", (order: ReadOrder) => {
  void readAll(order).then(report);
});
report({ ready: true });
await parentGone();
// Whatever it waits for is of no use to anybody any more.
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

/** How many bytes the body of the answer has. */
function read({ url, method, headers, body, saveTo }: ReadOrder): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { agent, method, headers }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`${url} was answered with the status ${response.statusCode}.`));
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
