import { printHeader, printRow } from "../scale/subject.ts";
import { median, quantile } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { takeTurns } from "../support/turns.ts";
import { Load, restRequest, rpcRequest } from "./load.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { PlainProxy } from "./plain-proxy.ts";
import { type Served, serveGateway, serveStillChain } from "./programs.ts";

const SLOTS_PER_EPOCH = 8;
const VALIDATORS = 64;
const CONNECTIONS = 32;
/** A program is as fast as it gets after about ten seconds of work. */
const WARM_UP_ROUNDS = 5;

/** Of what a gateway may cost: how much later an answer may come, and how many answers of the node's one core must give at least. */
const MOST_LATER_MILLIS = 0.3;
const LEAST_PASSED_ON = 0.7;
const LEAST_KEPT = 1;

interface Call {
  title: string;
  server: "JSON-RPC" | "REST";
  requests: readonly string[];
  /** Of the answers that one core of the node gives. */
  leastShare: number;
}

interface Measured {
  requestsPerSecond: number;
  /** Processor time of the program. */
  microsPerRequest: number;
}

/** How much later the answers of a gateway come, and how many one core gives, beside the node itself. */
export function benchSpeed(options: GatewayBenchOptions): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const node = await serveStillChain(directory);
    const gateway = await serveGateway({ node: node.restUrl });
    const load = await Load.start();
    try {
      const setting = { node, gateway, load, ...options };
      const calls = await callsOn(node);
      await warmUp(calls, setting);
      const isSoonEnough = await benchLatency(calls, setting);
      console.log("");
      const isFastEnough = await benchRates(calls, setting);
      console.log("");
      await benchPlainProxy(calls[0]!, setting);
      return isSoonEnough && isFastEnough;
    } finally {
      await load.end();
      await gateway.process.stop();
      await node.process.stop();
    }
  });
}

/** Nothing is kept of slots that are not final yet; the head and what is final are. */
async function callsOn({ process }: Served): Promise<Call[]> {
  const { head_slot, finalized_slot } = await process.head();
  const head = Number(head_slot);
  const recent = Array.from({ length: SLOTS_PER_EPOCH }, (_, before) => String(head - before));
  const final = Array.from({ length: Number(finalized_slot) - 1 }, (_, index) => String(index + 1));
  const indices = Array.from({ length: VALIDATORS }, (_, index) => String(index));
  const each = recent.flatMap((slot) => indices.map((index) => [slot, index] as const));
  return [
    {
      title: "a validator at a recent slot, each another, passed on",
      server: "JSON-RPC",
      requests: each.map((params) => rpcRequest("get_v1_beacon_states_stateId_validators_validatorId", params)),
      leastShare: LEAST_PASSED_ON,
    },
    {
      title: "a validator at a recent slot, each another, passed on",
      server: "REST",
      requests: each.map(([slot, index]) => restRequest(`/eth/v1/beacon/states/${slot}/validators/${index}`)),
      leastShare: LEAST_PASSED_ON,
    },
    {
      title: "a recent block, passed on",
      server: "JSON-RPC",
      requests: recent.map((slot) => rpcRequest("get_v2_beacon_blocks_blockId", [slot])),
      leastShare: LEAST_PASSED_ON,
    },
    {
      title: "a dashboard, a tenth passed on",
      server: "JSON-RPC",
      requests: dashboard({ recent, final, indices }),
      leastShare: LEAST_PASSED_ON,
    },
    {
      title: "a validator client, half passed on",
      server: "REST",
      requests: validatorClient({ head, indices }),
      leastShare: LEAST_PASSED_ON,
    },
    {
      title: "header of the head, kept",
      server: "JSON-RPC",
      requests: [rpcRequest("get_v1_beacon_headers_blockId", ["head"])],
      leastShare: LEAST_PASSED_ON,
    },
    {
      title: "final blocks, kept",
      server: "JSON-RPC",
      requests: final.map((slot) => rpcRequest("get_v2_beacon_blocks_blockId", [slot])),
      leastShare: LEAST_KEPT,
    },
    {
      title: "final blocks, kept",
      server: "REST",
      requests: final.map((slot) => restRequest(`/eth/v2/beacon/blocks/${slot}`)),
      leastShare: LEAST_KEPT,
    },
  ];
}

interface Chain {
  /** Slots that are not final. */
  recent: readonly string[];
  final: readonly string[];
  indices: readonly string[];
}

/** What a page asks again and again that shows where the chain is, its last blocks and some validators. */
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

/** What a client with validators in all committees asks in a slot: half of it follows from the slot, and is asked anew. */
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
}

/** Programs that have just started are slow, and whatever is measured first would look worse than the rest. */
async function warmUp(calls: readonly Call[], { node, gateway, load, seconds }: Setting): Promise<void> {
  for (const { server, requests } of calls) {
    for (const { ports } of [node, gateway]) {
      await load.run({ port: ports[server], requests, connections: CONNECTIONS, seconds });
    }
  }
}

async function benchLatency(calls: readonly Call[], setting: Setting): Promise<boolean> {
  const { node, gateway, rounds } = setting;
  let isSoonEnough = true;
  printHeader("one client", "p50, node", "p50, gateway", "later by");
  for (const { title, server, requests } of calls) {
    const p50s = await takeTurns(
      rounds,
      [node, gateway].map((served) => () => measureP50(requests, askedOf(served, server), setting)),
    );
    const [ofNode, ofGateway] = p50s as [number[], number[]];
    const later = median(ofGateway.map((millis, round) => millis - ofNode[round]!));
    isSoonEnough &&= later < MOST_LATER_MILLIS;
    printRow(`${title}, ${server}`, ...[median(ofNode), median(ofGateway), later].map(twoDigits));
  }
  return isSoonEnough;
}

async function benchRates(calls: readonly Call[], setting: Setting): Promise<boolean> {
  const { node, gateway, rounds } = setting;
  let isFastEnough = true;
  const columns = [
    "node, answers/s",
    "gateway, answers/s",
    "node, CPU µs",
    "gateway, CPU µs",
    "gateway/node on a core",
  ];
  printHeader(`${CONNECTIONS} clients`, ...columns);
  for (const call of calls) {
    const measured = await takeTurns(
      rounds,
      [node, gateway].map((served) => () => measureRate(call.requests, askedOf(served, call.server), setting)),
    );
    const [ofNode, ofGateway] = measured as [Measured[], Measured[]];
    const share = median(ofGateway.map((one, round) => ofNode[round]!.microsPerRequest / one.microsPerRequest));
    isFastEnough &&= share >= call.leastShare;
    const rate = (of: Measured[]) => median(of.map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0);
    const micros = (of: Measured[]) => median(of.map(({ microsPerRequest }) => microsPerRequest)).toFixed(1);
    const cells = [rate(ofNode), rate(ofGateway), micros(ofNode), micros(ofGateway)];
    printRow(`${call.title}, ${call.server}`, ...cells, `${(share * 100).toFixed(0)} %`);
  }
  return isFastEnough;
}

/** What the smallest answers cost a proxy that does nothing else, on the same machine in the same minutes. */
async function benchPlainProxy({ title, server, requests }: Call, setting: Setting): Promise<void> {
  const { node, gateway, load, rounds, seconds } = setting;
  const proxy = await PlainProxy.start(node.ports.REST);
  const asked = { port: proxy.port, cpuSeconds: () => proxy.cpuSeconds() };
  await load.run({ port: proxy.port, requests, connections: CONNECTIONS, seconds: seconds * WARM_UP_ROUNDS });
  const subjects = { node: askedOf(node, server), gateway: askedOf(gateway, server), "plain proxy": asked };
  const each = Object.values(subjects);
  const p50s = await takeTurns(
    rounds,
    each.map((subject) => () => measureP50(requests, subject, setting)),
  );
  const measured = await takeTurns(
    rounds,
    each.map((subject) => () => measureRate(requests, subject, setting)),
  );
  await proxy.end();
  printHeader(`${title}, ${server}`, "p50, one client", "later by", "CPU µs", "of the node's answers on a core");
  for (const [position, name] of Object.keys(subjects).entries()) {
    const later = p50s[position]!.map((millis, round) => millis - p50s[0]![round]!);
    const micros = measured[position]!.map(({ microsPerRequest }) => microsPerRequest);
    const share = median(micros.map((one, round) => measured[0]![round]!.microsPerRequest / one));
    const soon = [median(p50s[position]!), median(later)].map(twoDigits);
    printRow(name, ...soon, median(micros).toFixed(1), `${(share * 100).toFixed(0)} %`);
  }
}

/** A program that is asked, and what it has used of a processor. */
interface Asked {
  port: number;
  cpuSeconds(): number | Promise<number>;
}

function askedOf({ process, ports }: Served, server: Call["server"]): Asked {
  return { port: ports[server], cpuSeconds: () => process.usage.cpuSeconds };
}

/** Of one client, in milliseconds. */
async function measureP50(
  requests: readonly string[],
  { port }: Pick<Asked, "port">,
  { load, seconds }: Setting,
): Promise<number> {
  const { millis } = await load.run({ port, requests, connections: 1, seconds });
  return quantile(millis, 0.5);
}

async function measureRate(requests: readonly string[], asked: Asked, setting: Setting): Promise<Measured> {
  const { load, seconds } = setting;
  const before = await asked.cpuSeconds();
  const order = { port: asked.port, requests, connections: CONNECTIONS, seconds };
  const { millis, failures, seconds: elapsed } = await load.run(order);
  if (failures.length > 0) throw new Error(`${failures.length} requests failed; the first: ${failures[0]}`);
  const cpuSeconds = (await asked.cpuSeconds()) - before;
  return { requestsPerSecond: millis.length / elapsed, microsPerRequest: (cpuSeconds * 1e6) / millis.length };
}

const twoDigits = (millis: number) => `${millis.toFixed(2)} ms`;
