import { median, quantile } from "../support/statistics.ts";
import { percent, printHeader, printRow } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { type CalmTurns, takeCalmTurns } from "../support/turns.ts";
import { Yardstick } from "../support/yardstick.ts";
import { Load, restRequest, rpcRequest } from "./load.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { PlainProxy } from "./plain-proxy.ts";
import { type Served, serveGateway, serveStillChain } from "./programs.ts";

const SLOTS_PER_EPOCH = 8;
const VALIDATORS = 64;
const CONNECTIONS = 32;
/** The JIT needs about ten seconds of load. */
const WARM_UP_ROUNDS = 5;
/** A round is split into short turns, because the machine is rarely at full speed for a whole second. */
const TURNS_PER_ROUND = 8;

/** Budgets: added latency, and responses per core relative to the node, for forwarded and for cached requests. */
const MAX_ADDED_MILLIS = 0.3;
const MIN_FORWARDED_SHARE = 0.6;
const MIN_CACHED_SHARE = 1;

export interface Call {
  title: string;
  server: "JSON-RPC" | "REST";
  requests: readonly string[];
  /** Minimum responses per core relative to the node. */
  minShare: number;
}

interface Measured {
  requests: number;
  seconds: number;
  /** CPU time of the program. */
  cpuSeconds: number;
}

/** Compares a gateway with its node: latency, and responses per core. */
export function benchSpeed(options: GatewayBenchOptions): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const node = await serveStillChain(directory);
    const gateway = await serveGateway({ node: node.restUrl });
    const load = await Load.start();
    const yardstick = await Yardstick.start();
    try {
      const setting = { node, gateway, load, yardstick, ...options };
      const calls = await callsOn(node);
      await warmUp(calls, setting);
      const isLatencyOk = await benchLatency(calls, setting);
      console.log("");
      const isRateOk = await benchRates(calls, setting);
      console.log("");
      await benchPlainProxy(calls[0]!, setting);
      return isLatencyOk && isRateOk;
    } finally {
      await yardstick.end();
      await load.end();
      await gateway.process.stop();
      await node.process.stop();
    }
  });
}

/** Benched calls. The gateway caches the head and finalized data, but not unfinalized slots. */
export async function callsOn({ process }: Served): Promise<Call[]> {
  const { head_slot, finalized_slot } = await process.head();
  const head = Number(head_slot);
  const recent = Array.from({ length: SLOTS_PER_EPOCH }, (_, before) => String(head - before));
  const final = Array.from({ length: Number(finalized_slot) - 1 }, (_, index) => String(index + 1));
  const indices = Array.from({ length: VALIDATORS }, (_, index) => String(index));
  const each = recent.flatMap((slot) => indices.map((index) => [slot, index] as const));
  return [
    {
      title: "distinct validators at recent slots, forwarded",
      server: "JSON-RPC",
      requests: each.map((params) => rpcRequest("get_v1_beacon_states_stateId_validators_validatorId", params)),
      minShare: MIN_FORWARDED_SHARE,
    },
    {
      title: "distinct validators at recent slots, forwarded",
      server: "REST",
      requests: each.map(([slot, index]) => restRequest(`/eth/v1/beacon/states/${slot}/validators/${index}`)),
      minShare: MIN_FORWARDED_SHARE,
    },
    {
      title: "recent blocks, forwarded",
      server: "JSON-RPC",
      requests: recent.map((slot) => rpcRequest("get_v2_beacon_blocks_blockId", [slot])),
      minShare: MIN_FORWARDED_SHARE,
    },
    {
      title: "dashboard mix, 10 % forwarded",
      server: "JSON-RPC",
      requests: dashboard({ recent, final, indices }),
      minShare: MIN_FORWARDED_SHARE,
    },
    {
      title: "validator client mix, 50 % forwarded",
      server: "REST",
      requests: validatorClient({ head, indices }),
      minShare: MIN_FORWARDED_SHARE,
    },
    {
      title: "header of the head, cached",
      server: "JSON-RPC",
      requests: [rpcRequest("get_v1_beacon_headers_blockId", ["head"])],
      minShare: MIN_FORWARDED_SHARE,
    },
    {
      title: "finalized blocks, cached",
      server: "JSON-RPC",
      requests: final.map((slot) => rpcRequest("get_v2_beacon_blocks_blockId", [slot])),
      minShare: MIN_CACHED_SHARE,
    },
    {
      title: "finalized blocks, cached",
      server: "REST",
      requests: final.map((slot) => restRequest(`/eth/v2/beacon/blocks/${slot}`)),
      minShare: MIN_CACHED_SHARE,
    },
  ];
}

interface Chain {
  /** Unfinalized slots. */
  recent: readonly string[];
  final: readonly string[];
  indices: readonly string[];
}

/** Requests of a dashboard that shows the head, recent blocks and some validators. */
function dashboard({ recent, final, indices }: Chain): string[] {
  return recent.flatMap((slot, round) => [
    rpcRequest("get_v1_beacon_headers_blockId", ["head"]),
    rpcRequest("get_v1_beacon_states_stateId_finality_checkpoints", ["head"]),
    rpcRequest("get_v1_node_syncing", []),
    rpcRequest("get_v1_node_version", []),
    rpcRequest("get_v2_beacon_blocks_blockId", ["head"]),
    rpcRequest("get_v1_beacon_states_stateId_validators", ["head", indices.slice(round * 8, round * 8 + 8)]),
    rpcRequest("get_v1_beacon_states_stateId_committees", ["head"]),
    rpcRequest("get_v2_beacon_blocks_blockId", [final[round]]),
    rpcRequest("get_v1_beacon_headers_blockId", [final[round]]),
    rpcRequest("get_v2_beacon_blocks_blockId", [slot]),
  ]);
}

/** Requests of a validator client with validators in all committees in one slot. Half of them depend on the slot. */
function validatorClient({ head, indices }: { head: number; indices: readonly string[] }): string[] {
  const epoch = Math.floor(head / SLOTS_PER_EPOCH);
  const ids = indices.map((index) => `id=${index}`).join("&");
  const votes = [0, 1].map((committee) =>
    restRequest(`/eth/v1/validator/attestation_data?slot=${head}&committee_index=${committee}`),
  );
  return [
    restRequest("/eth/v1/node/syncing"),
    ...votes,
    restRequest(`/eth/v1/validator/duties/proposer/${epoch}`),
    restRequest(`/eth/v1/beacon/blocks/${head}/root`),
    restRequest(`/eth/v1/beacon/states/head/validators?${ids}`),
    restRequest("/eth/v1/beacon/states/head/fork"),
    restRequest("/eth/v1/beacon/headers/head"),
  ];
}

interface Setting extends GatewayBenchOptions {
  node: Served;
  gateway: Served;
  load: Load;
  yardstick: Yardstick;
}

/** Runs every call once, so that the first rows are not measured on cold code. */
async function warmUp(calls: readonly Call[], { node, gateway, load, seconds }: Setting): Promise<void> {
  for (const { server, requests } of calls) {
    for (const { ports } of [node, gateway]) {
      await load.run({ port: ports[server], requests, connections: CONNECTIONS, seconds });
    }
  }
}

async function benchLatency(calls: readonly Call[], setting: Setting): Promise<boolean> {
  let isLatencyOk = true;
  printHeader("one client", "p50, node", "p50, gateway", "added latency", "machine");
  const rows = await compareEach(calls, measureP50, setting);
  for (const [index, { title, server }] of calls.entries()) {
    const { measured, slowdown } = rows[index]!;
    const [ofNode, ofGateway] = measured as [number[], number[]];
    const added = addedMillis(ofGateway, ofNode);
    isLatencyOk &&= added < MAX_ADDED_MILLIS;
    const cells = [median(ofNode), median(ofGateway), added].map(twoDigits);
    printRow(`${title}, ${server}`, ...cells, times(slowdown));
  }
  return isLatencyOk;
}

async function benchRates(calls: readonly Call[], setting: Setting): Promise<boolean> {
  let isRateOk = true;
  const columns = [
    "node, answers/s",
    "gateway, answers/s",
    "node, CPU µs",
    "gateway, CPU µs",
    "gateway/node per core",
    "machine",
  ];
  printHeader(`${CONNECTIONS} clients`, ...columns);
  const rows = await compareEach(calls, measureRate, setting);
  for (const [index, call] of calls.entries()) {
    const { measured, slowdown } = rows[index]!;
    const [ofNode, ofGateway] = measured.map(sum) as [Measured, Measured];
    const share = microsPerRequest(ofNode) / microsPerRequest(ofGateway);
    isRateOk &&= share >= call.minShare;
    const both = [ofNode, ofGateway];
    const rates = both.map(({ requests, seconds }) => (requests / seconds).toFixed(0));
    const micros = both.map((one) => microsPerRequest(one).toFixed(1));
    printRow(`${call.title}, ${call.server}`, ...rates, ...micros, percent(share), times(slowdown));
  }
  return isRateOk;
}

/** Measures a minimal proxy in the same run, as a lower bound for small responses. */
async function benchPlainProxy({ title, server, requests }: Call, setting: Setting): Promise<void> {
  const { node, gateway, load, seconds } = setting;
  const proxy = await PlainProxy.start(node.ports.REST);
  const target = { port: proxy.port, cpuSeconds: () => proxy.cpuSeconds() };
  await load.run({ port: proxy.port, requests, connections: CONNECTIONS, seconds: seconds * WARM_UP_ROUNDS });
  const subjects = { node: targetOf(node, server), gateway: targetOf(gateway, server), "plain proxy": target };
  const each = Object.values(subjects);
  const compare = async <T>(measure: Measure<T>) =>
    (await takeTurns([each.map((subject) => () => measure(requests, subject, setting))], setting))[0]!;
  const latency = await compare(measureP50);
  const rates = await compare(measureRate);
  await proxy.end();
  const columns = ["p50, one client", "added latency", "machine", "CPU µs", "proxy/node per core", "machine"];
  printHeader(`${title}, ${server}`, ...columns);
  const micros = rates.measured.map((one) => microsPerRequest(sum(one)));
  for (const [position, name] of Object.keys(subjects).entries()) {
    const p50s = latency.measured[position]!;
    const cells = [...[median(p50s), addedMillis(p50s, latency.measured[0]!)].map(twoDigits), times(latency.slowdown)];
    const share = percent(micros[0]! / micros[position]!);
    printRow(name, ...cells, micros[position]!.toFixed(1), share, times(rates.slowdown));
  }
}

type Measure<T> = (requests: readonly string[], target: Target, setting: Setting) => Promise<T>;

/** Measures each call at the node and at the gateway. */
function compareEach<T>(calls: readonly Call[], measure: Measure<T>, setting: Setting): Promise<CalmTurns<T>[]> {
  const { node, gateway } = setting;
  return takeTurns(
    calls.map(({ server, requests }) =>
      [node, gateway].map((served) => () => measure(requests, targetOf(served, server), setting)),
    ),
    setting,
  );
}

export function takeTurns<T>(
  comparisons: (() => Promise<T>)[][],
  { yardstick, rounds }: Pick<Setting, "yardstick" | "rounds">,
): Promise<CalmTurns<T>[]> {
  return takeCalmTurns(yardstick, rounds * TURNS_PER_ROUND, comparisons);
}

/** Server under test. */
interface Target {
  port: number;
  cpuSeconds(): number | Promise<number>;
}

export function targetOf({ process, ports }: Served, server: Call["server"]): Target {
  return { port: ports[server], cpuSeconds: () => process.usage.cpuSeconds };
}

/** Median latency of one client in milliseconds. */
async function measureP50(
  requests: readonly string[],
  { port }: Pick<Target, "port">,
  { load, seconds }: Setting,
): Promise<number> {
  const { millis } = await load.run({ port, requests, connections: 1, seconds: seconds / TURNS_PER_ROUND });
  return quantile(millis, 0.5);
}

export async function measureRate(
  requests: readonly string[],
  target: Target,
  { load, seconds }: Pick<Setting, "load" | "seconds">,
): Promise<Measured> {
  const before = await target.cpuSeconds();
  const order = { port: target.port, requests, connections: CONNECTIONS, seconds: seconds / TURNS_PER_ROUND };
  const { millis, failures, seconds: elapsed } = await load.run(order);
  if (failures.length > 0) throw new Error(`${failures.length} requests failed; the first: ${failures[0]}`);
  return { requests: millis.length, seconds: elapsed, cpuSeconds: (await target.cpuSeconds()) - before };
}

const addedMillis = (millis: readonly number[], base: readonly number[]) =>
  median(millis.map((one, turn) => one - base[turn]!));

export function sum(measured: readonly Measured[]): Measured {
  const total = { requests: 0, seconds: 0, cpuSeconds: 0 };
  for (const { requests, seconds, cpuSeconds } of measured) {
    total.requests += requests;
    total.seconds += seconds;
    total.cpuSeconds += cpuSeconds;
  }
  return total;
}

export const microsPerRequest = ({ cpuSeconds, requests }: Measured) => (cpuSeconds * 1e6) / requests;
const twoDigits = (millis: number) => `${millis.toFixed(2)} ms`;
export const times = (slowdown: number) => `${slowdown.toFixed(2)} times`;
