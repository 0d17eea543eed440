import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../api/caller.ts";
import { type OpenedDevChain, openDevChain } from "../chain/dev-chain.ts";
import { createRecordingLogger, type LogRecord } from "../log/recording-logger.ts";
import { FakeTimers } from "../time/fake-timers.ts";
import type { ExecutionClient } from "./execution-client.ts";

/** Timeouts and backoffs are advanced by the test; tokens use the wall clock. */
export class EngineTimers extends FakeTimers {
  override unixNow(): number {
    return Date.now();
  }
}

/** A dev node with validators and execution clients, and a manual clock. */
export class NodeWithClient {
  readonly opened: OpenedDevChain;
  readonly timers: EngineTimers;
  readonly #caller: Caller;
  readonly #records: LogRecord[];

  /** Closed at the end of the test. */
  static async open(
    [first, ...others]: readonly [ExecutionClient, ...ExecutionClient[]],
    options: Partial<DevNodeOptions> = {},
    directory?: string,
  ): Promise<NodeWithClient> {
    const timers = new EngineTimers();
    const logger = createRecordingLogger();
    const defaults = first.nodeOptions(...others);
    const execution = { ...defaults.execution!, timers };
    const opened = await openDevChain({ ...defaults, execution, logger, ...options }, directory);
    return new NodeWithClient(opened, timers, logger.records);
  }

  private constructor(opened: OpenedDevChain, timers: EngineTimers, records: LogRecord[]) {
    this.opened = opened;
    this.timers = timers;
    this.#records = records;
    this.#caller = new Caller(opened.devChain.api);
  }

  get chain() {
    return this.opened.devChain.chain;
  }

  get clock() {
    return this.opened.devChain.clock;
  }

  get slot(): number {
    return this.clock.currentSlot;
  }

  /** Advances by some slots. Returns those without a canonical block. */
  async advance(slots: number): Promise<number[]> {
    const from = this.slot + 1;
    await this.clock.advanceTo(this.slot + slots);
    const missed: number[] = [];
    for (let slot = from; slot <= this.slot; slot++) {
      if ((await this.chain.blocks.rootAtSlot(slot)) === null) missed.push(slot);
    }
    return missed;
  }

  call(method: string, params: unknown[] = []) {
    return this.#caller.call(method, params);
  }

  /** Returns the execution flags of the sync status, and the health. */
  async condition() {
    const { is_optimistic: isOptimistic, el_offline: isOffline } = await this.call("get_v1_node_syncing");
    const { health } = await this.call("get_v1_node_health");
    return { isOptimistic, isOffline, health };
  }

  /** Returns warnings, errors and recovery messages since the last call. */
  takeLines(): string[] {
    const levels = ["notice", "warn", "error", "fatal"];
    const lines = this.#records
      .filter(({ level }) => levels.includes(level))
      .map(({ message, fields }) => (fields?.duty === undefined ? message : `${message}: ${fields.duty}`));
    this.#records.length = 0;
    return lines;
  }
}
