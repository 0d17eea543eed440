import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { ChainSpec } from "../../../../src/gateway/network/chain-spec.ts";
import type { UpstreamSettings } from "../../../../src/gateway/settings.ts";
import { headerRoot } from "../../../../src/gateway/validation/requested-roots.ts";
import { LoopbackServer } from "../../sockets/loopback-server.ts";
import type { FakeTimers } from "../../time/fake-timers.ts";

export const SLOTS_PER_EPOCH = 8;

export const GENESIS = block(0);

export const CHAIN_SPEC: ChainSpec = {
  presetBase: "minimal",
  genesisValidatorsRoot: GENESIS.root,
  genesisTime: 0,
  secondsPerSlot: 12,
  slotsPerEpoch: SLOTS_PER_EPOCH,
  forks: [{ name: "phase0", epoch: 0 }],
};

export interface ScriptedBlock {
  slot: number;
  root: string;
  stateRoot: string;
  parent?: ScriptedBlock;
}

/** Creates a block. Different marks give different blocks of the same slot. */
export function block(slot: number, parent?: ScriptedBlock, mark = 0): ScriptedBlock {
  const stateRoot = rootOf("5", slot, mark);
  return { slot, parent, stateRoot, root: headerRoot(headerOf({ slot, parent, stateRoot })) };
}

function headerOf({ slot, parent, stateRoot }: Omit<ScriptedBlock, "root">) {
  return {
    slot: String(slot),
    proposer_index: "0",
    parent_root: parent?.root ?? rootOf("b", 0, 15),
    state_root: stateRoot,
    body_root: rootOf("0", 0, 0),
  };
}

function rootOf(kind: string, slot: number, mark: number): string {
  return `0x${kind}${mark.toString(16)}${slot.toString(16).padStart(62, "0")}`;
}

export const stateRootOf = ({ stateRoot }: ScriptedBlock): string => stateRoot;

/** State root of an empty slot. */
export const stateRootAt = (slot: number): string => rootOf("e", slot, 0);

/** Hex digits of a root, or of this many bytes. */
export const hexOf = (mark: string | number, bytes = 32): string => `0x${String(mark).padStart(2 * bytes, "0")}`;

/** Data of a `voluntary_exit` event. */
export const exitEvent = (validator: number, mark = validator): Record<string, unknown> => ({
  message: { epoch: "1", validator_index: String(validator) },
  signature: hexOf(mark, 96),
});

/** Data of a `single_attestation` event. */
export const attestationEvent = (slot: number, attester: number): Record<string, unknown> => ({
  attester_index: String(attester),
  data: {
    slot: String(slot),
    index: "0",
    beacon_block_root: hexOf(slot),
    source: { epoch: "0", root: hexOf(0) },
    target: { epoch: "0", root: hexOf(0) },
  },
  signature: hexOf(1, 96),
});

/** Data of a `head` event. */
export function headEvent(head: ScriptedBlock): Record<string, unknown> {
  const epoch = Math.floor(head.slot / SLOTS_PER_EPOCH);
  return {
    slot: String(head.slot),
    block: head.root,
    state: stateRootOf(head),
    epoch_transition: Math.floor((head.parent?.slot ?? 0) / SLOTS_PER_EPOCH) < epoch,
    previous_duty_dependent_root: lastBefore((epoch - 1) * SLOTS_PER_EPOCH, head).root,
    current_duty_dependent_root: lastBefore(epoch * SLOTS_PER_EPOCH, head).root,
    execution_optimistic: false,
  };
}

export const blockEvent = ({ slot, root }: ScriptedBlock): Record<string, unknown> => ({
  slot: String(slot),
  block: root,
  execution_optimistic: false,
});

export const reorgEvent = (
  old: ScriptedBlock,
  head: ScriptedBlock,
  ancestor: ScriptedBlock,
): Record<string, unknown> => ({
  slot: String(head.slot),
  depth: String(old.slot - ancestor.slot),
  old_head_block: old.root,
  new_head_block: head.root,
  old_head_state: stateRootOf(old),
  new_head_state: stateRootOf(head),
  epoch: String(Math.floor(head.slot / SLOTS_PER_EPOCH)),
  execution_optimistic: false,
});

function lastBefore(slot: number, head: ScriptedBlock): ScriptedBlock {
  let found = head;
  while (found.parent && found.slot >= slot) found = found.parent;
  return found;
}

/** A beacon node on loopback with scripted events. */
export class StreamingUpstream {
  readonly name: string;
  /** Topics that it rejects. */
  readonly unknownTopics = new Set<string>();
  /** Sends the response headers only with the first event. */
  beginsWithEvent = false;
  /** Topics of every subscription, in order. */
  readonly subscriptions: string[][] = [];
  readonly requests: string[] = [];
  readonly authorizations = new Set<string | undefined>();
  /** Answers requests other than subscriptions. */
  isAnswering = true;
  /** Returns a status instead of the answer, or a promise that delays the answer. Undefined to answer at once. */
  disturb: (path: string) => number | Promise<void> | undefined = () => undefined;
  finalized = { epoch: 0, root: GENESIS.root };
  #head: ScriptedBlock | undefined;
  readonly #blocks = new Map<string, ScriptedBlock>();
  readonly #server = new LoopbackServer((request, response) => this.#answer(request, response));
  readonly #open = new Map<ServerResponse, readonly string[]>();
  #waiting: (() => void)[] = [];

  static async start(name: string, head?: ScriptedBlock): Promise<StreamingUpstream> {
    const upstream = new StreamingUpstream(name);
    if (head) upstream.setHead(head);
    await upstream.#server.start();
    onTestFinished(() => upstream.#server.stop());
    return upstream;
  }

  private constructor(name: string) {
    this.name = name;
  }

  options(more: Partial<UpstreamSettings> = {}): UpstreamSettings {
    return { name: this.name, url: this.#server.url, tier: 0, weight: 1, ...more };
  }

  /** Adds blocks that can be requested, without an event. */
  setHead(head: ScriptedBlock): void {
    this.#head = head;
    this.addBlocks(head);
  }

  /** Adds a block and its ancestors without making it the head. */
  addBlocks(head: ScriptedBlock): void {
    for (let at: ScriptedBlock | undefined = head; at; at = at.parent) this.#blocks.set(at.root, at);
  }

  /** Sets the head and announces it. */
  imports(head: ScriptedBlock): void {
    this.setHead(head);
    this.publishBlock(head);
    this.tellHead(head);
  }

  publishBlock(announced: ScriptedBlock): void {
    this.publish("block", blockEvent(announced));
  }

  tellHead(head: ScriptedBlock): void {
    this.publish("head", headEvent(head));
  }

  publish(topic: string, value: unknown): void {
    this.write(`event: ${topic}\ndata: ${JSON.stringify(value)}\n\n`, topic);
  }

  /** Sends an event to the subscribers of its topic, or to all. */
  write(text: string, topic?: string): void {
    for (const [res, topics] of this.#open) if (topic === undefined || topics.includes(topic)) res.write(text);
  }

  get connections(): number {
    return this.#open.size;
  }

  /** Ends the event streams. */
  breakOff(): void {
    for (const res of this.#open.keys()) res.destroy();
  }

  /** Resolves when this many streams are open. */
  async connected(count = 1): Promise<void> {
    await this.until(() => this.#open.size === count);
  }

  /** Resolves when a condition holds after a stream was opened, rejected or closed. */
  async until(upstreamHealth: () => boolean): Promise<void> {
    while (!upstreamHealth()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  answerTo(path: string): unknown {
    const [, header] = /^\/eth\/v1\/beacon\/headers\/(\w+)$/.exec(path) ?? [];
    if (header) return this.#headerOf(header);
    const [, slot] = /^\/eth\/v1\/beacon\/blocks\/(\d+)\/root$/.exec(path) ?? [];
    if (slot) {
      let found = this.#head;
      while (found && found.slot > Number(slot)) found = found.parent;
      return found?.slot === Number(slot) ? { data: { root: found.root } } : undefined;
    }
    const [, stateSlot] = /^\/eth\/v1\/beacon\/states\/(\d+)\/root$/.exec(path) ?? [];
    if (stateSlot) return { data: { root: stateRootAt(Number(stateSlot)) } };
    const { epoch, root } = this.finalized;
    const checkpoint = { epoch: String(epoch), root };
    return path.endsWith("/finality_checkpoints") ? { data: { finalized: checkpoint } } : undefined;
  }

  #headerOf(id: string): unknown {
    let found = id === "head" || id === "genesis" ? this.#head : this.#blocks.get(id);
    while (id === "genesis" && found?.parent) found = found.parent;
    if (!found) return undefined;
    const message = headerOf(found);
    return { execution_optimistic: false, data: { root: found.root, canonical: true, header: { message } } };
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const { pathname, searchParams } = new URL(req.url!, "http://localhost");
    this.authorizations.add(req.headers.authorization);
    if (pathname.endsWith("/eth/v1/events")) {
      this.#subscribe(searchParams.getAll("topics"), res);
      return;
    }
    this.requests.push(pathname);
    if (!this.isAnswering) {
      res.destroy();
      return;
    }
    const disturbed = this.disturb(pathname);
    const answer = this.answerTo(pathname);
    const status = typeof disturbed === "number" ? disturbed : answer === undefined ? 404 : 200;
    const send = () => res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    if (disturbed instanceof Promise) void disturbed.then(send);
    else send();
  }

  #subscribe(topics: string[], res: ServerResponse): void {
    this.subscriptions.push(topics);
    if (topics.some((topic) => this.unknownTopics.has(topic))) {
      res.writeHead(400).end();
    } else {
      res.writeHead(200, { "content-type": "text/event-stream" });
      if (!this.beginsWithEvent) res.flushHeaders();
      this.#open.set(res, topics);
      res.on("close", () => {
        this.#open.delete(res);
        this.#wake();
      });
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Fetches paths from scripted upstreams. */
export function fetchFrom(upstreams: readonly StreamingUpstream[]) {
  return async (name: string, path: string): Promise<Buffer | undefined> => {
    const { url } = upstreams.find((upstream) => upstream.name === name)!.options();
    const response = await fetch(url + path);
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status === 404) return undefined;
    if (response.status !== 200) throw new Error(`HTTP status ${response.status}`);
    return body;
  };
}

/** Advances time in steps until a condition holds. */
export async function passUntil(timers: FakeTimers, step: number, upstreamHealth: () => boolean): Promise<void> {
  while (!upstreamHealth()) await timers.advance(step);
}
