import { Child } from "../support/child.ts";
import { median } from "../support/statistics.ts";
import { percent, printHeader, printRow, printSetting } from "../support/table.ts";
import { takeTurns } from "../support/turns.ts";
import { type Measured, measure, Server } from "./measure.ts";
import { BATCH, type BenchedRequest, GENESIS, SINGLE_REQUESTS } from "./requests.ts";

/** Relative to the bare server's requests per second. */
const MIN_SHARE = 0.4;
/** Relative to the rate of single calls. */
const MIN_BATCH_GAIN = 5;

interface Options {
  rounds: number;
  seconds: number;
  /** `fanal-process.ts` of another checkout to compare with. */
  otherPath?: string | undefined;
}

interface Bench extends Options {
  fanal: Server;
  other: Server | undefined;
  bare: Server;
  load: Child;
}

/** Prints the measurements. Returns false if the JSON-RPC server is below its targets. */
export async function benchJsonRpc(options: Options): Promise<boolean> {
  const { rounds, seconds, otherPath } = options;
  const [fanal, other, bare, { child: load }] = await Promise.all([
    Server.start("fanal-process"),
    otherPath === undefined ? undefined : Server.startFrom(otherPath),
    Server.start("bare-process"),
    Child.start("load-process", import.meta.url),
  ]);
  const bench = { ...options, fanal, other, bare, load };
  try {
    printSetting(`${rounds} rounds of ${seconds} s for each server, medians`);
    const columns = ["Fanal, requests/s", "bare, requests/s", "Fanal/bare", "Fanal, CPU µs", "bare, CPU µs", "by CPU"];
    printHeader("call", ...columns);
    const compared: Comparison[] = [];
    for (const request of SINGLE_REQUESTS) compared.push(await compare(request, bench));
    if (other) printOther(compared);
    const gain = await batchGain(bench);
    return Math.min(...compared.map(({ share }) => share)) >= MIN_SHARE && gain >= MIN_BATCH_GAIN;
  } finally {
    await Promise.all([fanal.child.end(), other?.child.end(), bare.child.end(), load.end()]);
  }
}

interface Comparison {
  title: string;
  share: number;
  shareByCpu: number;
  otherShare: number;
  otherShareByCpu: number;
}

const rate = ({ requestsPerSecond }: Measured) => requestsPerSecond;
const cpu = ({ microsecondsPerRequest }: Measured) => microsecondsPerRequest;

async function compare(request: BenchedRequest, bench: Bench): Promise<Comparison> {
  const { title } = request;
  const { fanal, other, bare, load, rounds, seconds } = bench;
  await bare.child.ask({ answer: await answerOf(fanal, request) });
  const servers = other ? [fanal, bare, other] : [fanal, bare];
  const measured = await takeTurns(
    rounds,
    servers.map((server) => () => measure(load, server, request, seconds)),
  );
  const [ofFanal, ofBare, ofOther = []] = measured as [Measured[], Measured[], Measured[]?];
  const shareOf = (ofServer: Measured[]) => median(ofServer.map((one, round) => rate(one) / rate(ofBare[round]!)));
  const shareByCpuOf = (ofServer: Measured[]) => median(ofServer.map((one, round) => cpu(ofBare[round]!) / cpu(one)));
  const comparison: Comparison = {
    title,
    share: shareOf(ofFanal),
    shareByCpu: shareByCpuOf(ofFanal),
    otherShare: other ? shareOf(ofOther) : Number.NaN,
    otherShareByCpu: other ? shareByCpuOf(ofOther) : Number.NaN,
  };
  printRow(
    title,
    median(ofFanal.map(rate)).toFixed(0),
    median(ofBare.map(rate)).toFixed(0),
    percent(comparison.share, 1),
    median(ofFanal.map(cpu)).toFixed(1),
    median(ofBare.map(cpu)).toFixed(1),
    percent(comparison.shareByCpu, 1),
  );
  return comparison;
}

function printOther(compared: readonly Comparison[]): void {
  console.log();
  printHeader("call", ...["/bare", ", by CPU"].flatMap((what) => [`other checkout${what}`, `this checkout${what}`]));
  for (const { title, share, shareByCpu, otherShare, otherShareByCpu } of compared) {
    printRow(title, ...[otherShare, share, otherShareByCpu, shareByCpu].map((each) => percent(each, 1)));
  }
}

async function batchGain({ fanal, load, rounds, seconds }: Bench): Promise<number> {
  const measured = await takeTurns(
    rounds,
    [BATCH, GENESIS].map((request) => () => measure(load, fanal, request, seconds)),
  );
  const [batches, singles] = measured as [Measured[], Measured[]];
  const callsPerSecond = (measured: Measured) => measured.requestsPerSecond * BATCH.calls;
  const gain = median(batches.map((batch, round) => callsPerSecond(batch) / rate(singles[round]!)));
  const batchRate = median(batches.map(callsPerSecond));
  const singleRate = median(singles.map(rate));
  console.log(
    `\nA batch of ${BATCH.calls} small calls: ${batchRate.toFixed(0)} calls/s, ${gain.toFixed(1)} times the ${singleRate.toFixed(0)} calls/s of single calls.`,
  );
  return gain;
}

async function answerOf(server: Server, request: BenchedRequest): Promise<string> {
  const { path = "/", body } = request;
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const url = `http://127.0.0.1:${server.portOf(request)}${path}`;
  const response = await fetch(url, request.path === undefined ? post : undefined);
  const text = await response.text();
  if (!response.ok || text.includes('"error":')) throw new Error(`The server answered ${text}.`);
  return text;
}
