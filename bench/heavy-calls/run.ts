import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { watchSteal } from "../support/machine.ts";
import { type NodeProcess, withNode } from "../support/node-process.ts";
import { quantile } from "../support/statistics.ts";
import { milliseconds, percent, printHeader, printRow, printSetting, seconds } from "../support/table.ts";
import { HEAVY_CALLS, type HeavyCall, LOGGING, LOGS } from "./calls.ts";

interface HeavyCallsOptions {
  /** Duration of each row. */
  seconds: number;
  /** Selects calls whose names contain this. */
  only: string;
}

const CALLERS = [4, 16];
const SLOT_SECONDS = 2;
const PROBE_MS = 20;
/** Gives the read thread time to restart after the previous row. */
const PAUSE_MS = 2000;
/**
 * Maximum duration of a call: its limit, one second until its thread is replaced, and one second of margin for a busy
 * machine.
 */
const LONGEST_MS = { eth_call: 7000, eth_getLogs: 22_000 };
const ABORTED = /^execution aborted/;
const FLAGS = [
  "dev",
  "--evm",
  "--slot-seconds",
  String(SLOT_SECONDS),
  "--warmup-epochs",
  "1",
  "--eth-rpc",
  "--eth-rpc-port",
  "0",
];

interface Row {
  slots: number;
  blocksOnTime: number;
  probes: number[];
  calls: number[];
  /** Error messages of calls, except for exceeded limits. */
  errors: string[];
}

/**
 * Prints a row per call and number of callers. Returns false if a block was late or missing, or a call took too long.
 */
export async function benchHeavyCalls(options: HeavyCallsOptions): Promise<boolean> {
  printSetting(`slots of ${SLOT_SECONDS} s, ${options.seconds} s per row`);
  printHeader("call", "callers", "blocks on time", "eth_blockNumber p50", "p99", "calls", "longest", "stolen");
  const calls = Object.entries(HEAVY_CALLS).filter(([name]) => name.includes(options.only));
  return withNode(FLAGS, async (node) => {
    const client = new EthClient(await ethUrl(node));
    await emitLogs(client);
    let isWell = await measureRow(client, node, { name: "nothing", callers: 0, seconds: options.seconds });
    for (const [name, call] of calls) {
      for (const callers of CALLERS) {
        await delay(PAUSE_MS);
        isWell = (await measureRow(client, node, { name, call, callers, seconds: options.seconds })) && isWell;
      }
    }
    await client.close();
    return isWell;
  });
}

async function ethUrl(node: NodeProcess): Promise<string> {
  const [, url] = await node.untilLine(/Ethereum RPC is served at (http:[^\s"]+)/);
  return url!;
}

interface Reply {
  result?: unknown;
  error?: { message: string };
}

/** Longer responses are results. They are not parsed, since that would delay probes. */
const PARSED_BELOW_BYTES = 64 * 1024;

/** Client of the execution layer, with one connection per concurrent call. */
class EthClient {
  readonly #pool: Pool;

  constructor(url: string) {
    this.#pool = new Pool(url, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  }

  /** Sends a request as JSON. */
  async send(body: string): Promise<Reply> {
    const headers = { "content-type": "application/json" };
    const response = await this.#pool.request({ path: "/", method: "POST", headers, body });
    if (response.statusCode !== 200) throw new Error(`Status ${response.statusCode}: ${await response.body.text()}`);
    const bytes = await response.body.arrayBuffer();
    return bytes.byteLength < PARSED_BELOW_BYTES ? (JSON.parse(Buffer.from(bytes).toString()) as Reply) : {};
  }

  async call<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const { result, error } = await this.send(requestOf({ method, params }));
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

const requestOf = ({ method, params }: HeavyCall) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

/** Fills blocks with the logs that the last call in the table returns. */
async function emitLogs(client: EthClient): Promise<void> {
  const { address, code, logs } = LOGGING;
  await client.call("anvil_setCode", address, code);
  const [from] = await client.call<string[]>("eth_accounts");
  let last = "";
  for (let sent = 0; sent < LOGS; sent += logs) last = await client.call("eth_sendTransaction", { from, to: address });
  while ((await client.call("eth_getTransactionReceipt", last)) === null) await delay(100);
}

interface Load {
  name: string;
  call?: HeavyCall;
  callers: number;
  seconds: number;
}

async function measureRow(client: EthClient, node: NodeProcess, load: Load): Promise<boolean> {
  const row: Row = { slots: 0, blocksOnTime: 0, probes: [], calls: [], errors: [] };
  const steal = watchSteal();
  const ends = performance.now() + load.seconds * 1000;
  const isOver = () => performance.now() >= ends;
  const callers = Array.from({ length: load.callers }, () => callUntil(client, load.call!, row, isOver));
  await Promise.all([probeUntil(client, row, isOver), watchSlots(node, row, isOver), ...callers]);
  printLoad(load, row, steal());
  const longest = Math.max(0, ...row.calls);
  const limit = LONGEST_MS[(load.call?.method ?? "eth_call") as keyof typeof LONGEST_MS];
  return row.blocksOnTime === row.slots && longest < limit && row.errors.length === 0;
}

async function callUntil(client: EthClient, call: HeavyCall, row: Row, isOver: () => boolean): Promise<void> {
  const body = requestOf(call);
  while (!isOver()) {
    const began = performance.now();
    const { error } = await client.send(body);
    row.calls.push(performance.now() - began);
    if (error && !ABORTED.test(error.message)) row.errors.push(error.message);
  }
}

/** Probes at a constant rate, also while earlier probes wait. */
async function probeUntil(client: EthClient, row: Row, isOver: () => boolean): Promise<void> {
  const probes: Promise<void>[] = [];
  while (!isOver()) {
    const began = performance.now();
    probes.push(client.call("eth_blockNumber").then(() => void row.probes.push(performance.now() - began)));
    await delay(PROBE_MS);
  }
  await Promise.all(probes);
}

/** Counts the slots of the row, and those whose block was the head before the next slot began. */
async function watchSlots(node: NodeProcess, row: Row, isOver: () => boolean): Promise<void> {
  const genesis = Number((await node.call("get_v1_beacon_genesis")).genesis_time) * 1000;
  const slotMs = SLOT_SECONDS * 1000;
  for (let slot = Math.floor((Date.now() - genesis) / slotMs) + 1; !isOver(); slot++) {
    await delay(Math.max(0, genesis + (slot + 1) * slotMs - PROBE_MS - Date.now()));
    row.slots++;
    if ((await node.headSlot()) >= slot) row.blocksOnTime++;
  }
}

function printLoad(
  { name, callers }: Load,
  { slots, blocksOnTime, probes, calls, errors }: Row,
  stolen: number | undefined,
): void {
  printRow(
    name,
    callers,
    `${blocksOnTime} of ${slots}`,
    milliseconds(quantile(probes, 0.5)),
    milliseconds(quantile(probes, 0.99)),
    calls.length,
    calls.length > 0 ? seconds(Math.max(...calls)) : "",
    percent(stolen, 1),
  );
  for (const error of new Set(errors)) console.log(`  unexpected error: ${error}`);
}
