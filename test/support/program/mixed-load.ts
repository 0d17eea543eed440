import { setTimeout as sleep } from "node:timers/promises";

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

/** Clients that send a mix of calls to a node, one at a time each. */
export class MixedLoad {
  readonly #url: string;
  readonly #connections: number;
  #next = 0;
  /** About the newest one that there is. */
  slot = 0;
  /** Until each of the answers. */
  readonly millis: number[] = [];
  /** Error of the first failed call. */
  firstFailure: string | undefined;

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#connections = connections;
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
