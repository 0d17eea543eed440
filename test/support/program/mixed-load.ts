import { setTimeout as sleep } from "node:timers/promises";

/** Calls in rotation: half read the head, some need old states, some have long responses. */
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

/** Includes requests for empty slots. */
const NOT_FOUND = -32001;

/** Clients that send a mix of calls to a node, one at a time each. */
export class MixedLoad {
  readonly #url: string;
  readonly #connections: number;
  #next = 0;
  /** Approximate newest slot. */
  slot = 0;
  /** Latency of each call. */
  readonly millis: number[] = [];
  /** Error of the first failed call. */
  firstFailure: string | undefined;

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#connections = connections;
  }

  /** Sends calls on all connections until the given time, limited to the rate if there is one. */
  async run(until: number, perSecond = Number.POSITIVE_INFINITY): Promise<void> {
    const began = performance.now();
    let begun = 0;
    const repeat = async () => {
      while (performance.now() < until) {
        const due = began + (begun++ / perSecond) * 1000;
        const wait = due - performance.now();
        if (wait > 1) await sleep(wait);
        await this.#call();
      }
    };
    await Promise.all(Array.from({ length: this.#connections }, repeat));
  }

  async #call(): Promise<void> {
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
    if (error && error.code !== NOT_FOUND) this.firstFailure ??= `${method} failed: ${error.message}`;
  }
}
