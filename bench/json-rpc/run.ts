import { Child } from "../support/child.ts";
import { describeMachine } from "../support/machine.ts";
import { median } from "../support/statistics.ts";
import { type Measured, measure, Server } from "./measure.ts";
import { BATCH, type BenchedRequest, GENESIS, SINGLE_REQUESTS } from "./requests.ts";

/** Of the bare server's requests per second. */
const LEAST_SHARE = 0.6;
/** Of the rate of single calls. */
const LEAST_BATCH_GAIN = 5;

interface Options {
  rounds: number;
  seconds: number;
}

/** Prints what was measured; false when the JSON-RPC server is slower than it may be. */
export async function benchJsonRpc({ rounds, seconds }: Options): Promise<boolean> {
  const [fanal, bare, { child: load }] = await Promise.all([
    Server.start("fanal-process"),
    Server.start("bare-process"),
    Child.start("load-process", import.meta.url),
  ]);
  try {
    console.log(`${describeMachine()}; ${rounds} rounds of ${seconds} s for each server, medians\n`);
    console.log("| call | Fanal, requests/s | bare, requests/s | Fanal/bare | Fanal, CPU µs | bare, CPU µs | by CPU |");
    console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    const shares: number[] = [];
    for (const request of SINGLE_REQUESTS) shares.push(await compare(request, { fanal, bare, load, rounds, seconds }));
    const gain = await batchGain({ fanal, load, rounds, seconds });
    return Math.min(...shares) >= LEAST_SHARE && gain >= LEAST_BATCH_GAIN;
  } finally {
    await Promise.all([fanal.child.end(), bare.child.end(), load.end()]);
  }
}

interface Bench extends Options {
  fanal: Server;
  bare: Server;
  load: Child;
}

async function compare(
  { title, body }: BenchedRequest,
  { fanal, bare, load, rounds, seconds }: Bench,
): Promise<number> {
  await bare.child.ask({ answer: await answerOf(fanal, body) });
  const pairs = await alternate(
    rounds,
    () => measure(load, fanal, body, seconds),
    () => measure(load, bare, body, seconds),
  );
  const rate = ({ requestsPerSecond }: Measured) => requestsPerSecond;
  const cpu = ({ microsecondsPerRequest }: Measured) => microsecondsPerRequest;
  const share = median(pairs.map(([ofFanal, ofBare]) => rate(ofFanal) / rate(ofBare)));
  const cells = [
    title,
    median(pairs.map(([ofFanal]) => rate(ofFanal))).toFixed(0),
    median(pairs.map(([, ofBare]) => rate(ofBare))).toFixed(0),
    percent(share),
    median(pairs.map(([ofFanal]) => cpu(ofFanal))).toFixed(1),
    median(pairs.map(([, ofBare]) => cpu(ofBare))).toFixed(1),
    percent(median(pairs.map(([ofFanal, ofBare]) => cpu(ofBare) / cpu(ofFanal)))),
  ];
  console.log(`| ${cells.join(" | ")} |`);
  return share;
}

async function batchGain({ fanal, load, rounds, seconds }: Omit<Bench, "bare">): Promise<number> {
  const pairs = await alternate(
    rounds,
    () => measure(load, fanal, BATCH.body, seconds),
    () => measure(load, fanal, GENESIS.body, seconds),
  );
  const callsPerSecond = (measured: Measured) => measured.requestsPerSecond * BATCH.calls;
  const gain = median(pairs.map(([batch, single]) => callsPerSecond(batch) / single.requestsPerSecond));
  const batchRate = median(pairs.map(([batch]) => callsPerSecond(batch)));
  const singleRate = median(pairs.map(([, single]) => single.requestsPerSecond));
  console.log(
    `\nA batch of ${BATCH.calls} small calls: ${batchRate.toFixed(0)} calls/s, ${gain.toFixed(1)} times the ${singleRate.toFixed(0)} calls/s of single ones.`,
  );
  return gain;
}

/** Pairs of measurements that were made one right after the other, after a first pair that warms up and does not count. */
async function alternate<T>(rounds: number, first: () => Promise<T>, second: () => Promise<T>): Promise<[T, T][]> {
  const pairs: [T, T][] = [];
  for (let round = 0; round <= rounds; round++) {
    // Whoever comes second finds the machine as the other has left it, so they take turns in that too.
    const isSwapped = round % 2 === 1;
    const one = await (isSwapped ? second() : first());
    const other = await (isSwapped ? first() : second());
    if (round > 0) pairs.push(isSwapped ? [other, one] : [one, other]);
  }
  return pairs;
}

async function answerOf({ port }: Server, body: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body });
  const text = await response.text();
  if (!text.includes('"result":')) throw new Error(`The JSON-RPC server answered ${text}.`);
  return text;
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
