import { setTimeout as sleep } from "node:timers/promises";
import { describeMachine } from "../support/machine.ts";
import { NodeProcess } from "../support/node-process.ts";
import { quantile } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

const CONNECTIONS = 16;
/** Of what the node can answer. */
const SHARE = 0.8;
const CAPACITY_SECONDS = 10;
/** The table has so many rows. */
const PARTS = 10;

/** What is asked in turn; half of it is about the head, some needs old states, some is long. */
const CALLS: readonly (readonly [method: string, params: (slot: number) => unknown[]])[] = [
  ["getChainHead", () => []],
  ["get_v1_beacon_headers_blockId", () => ["head"]],
  ["get_v1_beacon_states_finality_checkpoints", () => ["head"]],
  ["get_v1_beacon_states_stateId_validators_validatorId", (slot) => ["head", String(slot % 64)]],
  ["get_v1_validator_duties_proposer", (slot) => [String(Math.floor(slot / 8))]],
  ["get_v1_beacon_blocks_blockId", (slot) => [String(slot - (slot % 31))]],
  ["get_v1_beacon_states_root", (slot) => [String(slot % 40)]],
  ["get_v1_beacon_states_stateId_committees", () => ["head"]],
  ["get_v1_beacon_states_stateId_validators", (slot) => ["finalized", [String(2 + (slot % 62)), "1"]]],
  ["get_v1_beacon_states_stateId_validators", () => ["head"]],
];

/** Blocks of empty slots are asked for, too. */
const NOT_FOUND = -32001;

class Load {
  readonly #url: string;
  #next = 0;
  slot = 0;
  readonly millis: number[] = [];
  failures = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async call(): Promise<void> {
    const [method, params] = CALLS[this.#next++ % CALLS.length]!;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: params(this.slot) });
    const began = performance.now();
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    const { error } = (await response.json()) as { error?: { code: number; message: string } };
    this.millis.push(performance.now() - began);
    if (!error || error.code === NOT_FOUND) return;
    if (this.failures++ === 0) console.error(`${method} failed: ${error.message}`);
  }

  /** Calls on all connections until then; with a rate, no more of them a second than that. */
  async run(until: number, perSecond = Number.POSITIVE_INFINITY): Promise<void> {
    const began = performance.now();
    let begun = 0;
    const repeat = async () => {
      while (performance.now() < until) {
        const due = began + (begun++ / perSecond) * 1000;
        const wait = due - performance.now();
        if (wait > 1) await sleep(wait);
        await this.call();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, repeat));
  }
}

/** Whether all calls were answered. */
export function benchMixedLoad(minutes: number): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const node = await NodeProcess.start("node", ["dev", "--data-dir", directory]);
    try {
      return await measure(node, minutes);
    } finally {
      await node.stop();
    }
  });
}

async function measure(node: NodeProcess, minutes: number): Promise<boolean> {
  const load = new Load(node.url);
  load.slot = await node.headSlot();
  await load.run(performance.now() + CAPACITY_SECONDS * 1000);
  const capacity = load.millis.length / CAPACITY_SECONDS;
  console.log(`${describeMachine()}; ${CONNECTIONS} connections, ${capacity.toFixed(0)} calls/s at most\n`);
  console.log("| minutes | calls/s | p50 | p99 | worst | RSS | processor | head behind the clock |");
  console.log("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  const seconds = (minutes * 60) / PARTS;
  for (let part = 1; part <= PARTS; part++) {
    load.millis.length = 0;
    const { cpuSeconds } = node.usage;
    const began = performance.now();
    load.slot = await node.headSlot();
    await load.run(began + seconds * 1000, capacity * SHARE);
    const elapsed = (performance.now() - began) / 1000;
    const millis = (share: number) => `${quantile(load.millis, share).toFixed(1)} ms`;
    const { residentBytes, cpuSeconds: cpuAfter } = node.usage;
    const { sync_distance: distance } = await node.call<{ sync_distance: string }>("get_v1_node_syncing");
    const cells = [
      ((part * minutes) / PARTS).toFixed(1),
      (load.millis.length / elapsed).toFixed(0),
      ...[0.5, 0.99, 1].map(millis),
      `${(residentBytes / 2 ** 20).toFixed(0)} MiB`,
      `${(((cpuAfter - cpuSeconds) / elapsed) * 100).toFixed(0)} %`,
      `${distance} slots`,
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  return load.failures === 0;
}
