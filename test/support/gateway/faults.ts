import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Timers } from "../../../src/async/timers.ts";
import { Gateway } from "../../../src/gateway/gateway.ts";
import { fetchChainSpec } from "../../../src/gateway/network/chain-spec.ts";
import { DEFAULT_GATEWAY_SETTINGS, type GatewaySettings } from "../../../src/gateway/settings.ts";
import type { HealthState } from "../../../src/gateway/upstream/upstream-health.ts";
import { createRecordingLogger } from "../log/recording-logger.ts";
import type { ProgramRun } from "../program/program-run.ts";
import { SseClient } from "../server/events/sse-client.ts";
import type { FaultyLink } from "../sockets/faulty-link.ts";

const ANYWHERE = { host: "127.0.0.1", port: 0 };
const READERS = 3;
/** Number of responses during a fault. */
const READS = 60;
/** Pause between read rounds, short enough to cover every phase of a fault. */
const PAUSE_MILLIS = 50;
const READ_VALIDATORS = 8;
const READ_BLOCKS = 8;

/** Opens a gateway without a cache over links named "first" and "second" until the end of the test. */
export async function openGateway(
  links: { first: FaultyLink; second: FaultyLink },
  settings: Partial<GatewaySettings> = {},
  timers?: Timers,
): Promise<Gateway> {
  const logger = createRecordingLogger();
  const upstreams = Object.entries(links).map(([name, { url }]) => ({ name, url, tier: 0, weight: 1 }));
  const chainSpec = await fetchChainSpec({ upstreams }, new AbortController().signal, logger);
  const gateway = await Gateway.open({
    settings: { ...DEFAULT_GATEWAY_SETTINGS, upstreams, memoryBytes: 0, ...settings },
    chainSpec,
    servers: { limits: {}, jsonRpc: ANYWHERE, rest: ANYWHERE },
    timers,
    logger,
  });
  onTestFinished(() => gateway.close());
  for (const { name } of upstreams) await untilState(gateway, name, "ready");
  return gateway;
}

export async function untilState({ health }: Gateway, upstream: string, state: HealthState): Promise<void> {
  while (health.of(upstream).state !== state) {
    await new Promise<void>((resolve) => {
      const stop = health.onChange(() => {
        stop();
        resolve();
      });
    });
  }
}

export async function callGateway({ jsonRpcUrl }: Gateway, method: string, params: unknown[]): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await fetch(jsonRpcUrl!, { method: "POST", headers, body })).text();
}

export async function headSlotOf(program: ProgramRun): Promise<number> {
  return Number((await program.call("getChainHead")).head_slot);
}

/**
 * Clients that continuously read from a gateway. Responses must be correct: identical blocks, and heads that never go
 * back.
 */
export class Readers {
  /** Incorrect responses. */
  readonly complaints: string[] = [];
  readonly #gateway: Gateway;
  /** Finalized responses of the node by path. */
  readonly #finalAnswers: ReadonlyMap<string, string>;
  readonly #done: Promise<unknown>;
  #count = 0;
  #isOver = false;

  static async start(gateway: Gateway, restUrl: string): Promise<Readers> {
    const paths = Array.from({ length: READ_BLOCKS }, (_, index) => `/eth/v2/beacon/blocks/${index + 1}`);
    const answers = await Promise.all(
      paths.map(async (path) => [path, await (await fetch(restUrl + path)).text()] as const),
    );
    return new Readers(gateway, new Map(answers));
  }

  private constructor(gateway: Gateway, finalAnswers: ReadonlyMap<string, string>) {
    this.#gateway = gateway;
    this.#finalAnswers = finalAnswers;
    this.#done = Promise.all(Array.from({ length: READERS }, (_, reader) => this.#read(reader)));
  }

  /** Resolves after many more responses. */
  async answered(): Promise<void> {
    const enough = this.#count + READS;
    while (this.#count < enough && this.complaints.length === 0) await delay(5);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #read(reader: number): Promise<void> {
    const paths = [...this.#finalAnswers.keys()];
    let lastHead = 0;
    for (let turn = reader; !this.#isOver; turn++) {
      const path = paths[turn % paths.length]!;
      const block = await this.#get(path);
      if (block !== this.#finalAnswers.get(path)) this.#complain(`${path}: ${block}`);
      const index = String(turn % READ_VALIDATORS);
      const validator = await this.#get(`/eth/v1/beacon/states/head/validators/${index}`);
      if (!validator.includes(`"index":"${index}"`)) this.#complain(`validator ${index}: ${validator}`);
      const head = await callGateway(this.#gateway, "get_v1_beacon_headers_blockId", ["head"]);
      const slot = Number(/"slot":"(\d+)"/.exec(head)?.[1]);
      if (!(slot >= lastHead)) this.#complain(`The head was ${lastHead}, then: ${head}`);
      lastHead = slot;
      this.#count += 3;
      await delay(PAUSE_MILLIS);
    }
  }

  #complain(what: string): void {
    const { health } = this.#gateway;
    const states = health.all.map(({ upstream, state, reasons }) => [upstream, state, ...reasons].join(" "));
    this.complaints.push(`${what}; ${states.join(", ")}; floor ${health.headFloor}`);
  }

  async #get(path: string): Promise<string> {
    return (await fetch(this.#gateway.restUrl + path)).text();
  }
}

/** Collects the blocks that a gateway announces as events. */
export class AnnouncedBlocks {
  readonly slots: number[] = [];

  static async listen({ restUrl }: Gateway): Promise<AnnouncedBlocks> {
    const { events } = await SseClient.connect(`${restUrl}/eth/v1/events?topics=block`);
    const blocks = new AnnouncedBlocks();
    const listening = (async () => {
      for (;;) blocks.slots.push(Number(((await events.next()).data as { slot: string }).slot));
    })();
    listening.catch(() => {});
    return blocks;
  }

  /** Resolves when the block of a slot is announced, to the sorted slots up to it. */
  async upTo(last: number): Promise<number[]> {
    while (!this.slots.some((slot) => slot >= last)) await delay(20);
    return this.slots.filter((slot) => slot <= last).toSorted((a, b) => a - b);
  }
}

/** Slots with a canonical block. */
export async function slotsWithBlocks(program: ProgramRun, from: number, last: number): Promise<number[]> {
  const blocks = await program.batch(
    Array.from({ length: last - from + 1 }, (_, index) => ["get_v1_beacon_headers_blockId", [from + index]]),
  );
  return blocks.flatMap(({ result }) => (result ? [Number(result.header.message.slot)] : []));
}

/** Corrupts the body of a response but not its headers. */
export function spoilBody(bytes: Buffer): Buffer {
  const from = bytes.indexOf("\r\n\r\n") + 4;
  return Buffer.concat([bytes.subarray(0, from), Buffer.alloc(bytes.length - from, "#")]);
}

export function spoilAll(bytes: Buffer): Buffer {
  return Buffer.alloc(bytes.length, "#");
}
