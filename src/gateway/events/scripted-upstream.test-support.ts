import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { FakeTimers } from "../../../test/support/fake-timers.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { UpstreamOptions } from "../options.ts";

export const SLOTS_PER_EPOCH = 8;

export const GENESIS = block(0);

export const FACTS: ChainFacts = {
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
  parent?: ScriptedBlock;
}

/** A block of this slot; those with different marks are different ones. */
export function block(slot: number, parent?: ScriptedBlock, mark = 0): ScriptedBlock {
  return { slot, parent, root: rootOf("b", slot, mark) };
}

function rootOf(kind: string, slot: number, mark: number): string {
  return `0x${kind}${mark.toString(16)}${slot.toString(16).padStart(62, "0")}`;
}

export const stateRootOf = ({ root }: ScriptedBlock): string => root.replace("0xb", "0x5");

/** Of a slot without a block. */
export const stateRootAt = (slot: number): string => rootOf("e", slot, 0);

/** The event of a head, as a node writes it. */
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

/** A beacon node that tells what the test says, over a real socket. */
export class ScriptedUpstream {
  readonly name: string;
  /** Those of a subscription that is refused. */
  readonly unknownTopics = new Set<string>();
  /** Whether it answers subscriptions with an error of its own. */
  isOverloaded = false;
  /** Whether the head of its answer to a subscription comes only with the first event. */
  beginsWithEvent = false;
  /** Whether its answer to a subscription that comes now does not arrive before it is let go. */
  holdsBack = false;
  /** The topics of every subscription, in order. */
  readonly subscriptions: string[][] = [];
  readonly requests: string[] = [];
  readonly authorizations = new Set<string | undefined>();
  /** Whether it answers anything but subscriptions. */
  isAnswering = true;
  finalized = { epoch: 0, root: rootOf("b", 0, 0) };
  #head: ScriptedBlock | undefined;
  readonly #blocks = new Map<string, ScriptedBlock>();
  readonly #server: Server;
  readonly #open = new Map<ServerResponse, readonly string[]>();
  #waiting: (() => void)[] = [];

  static async start(name: string, head?: ScriptedBlock): Promise<ScriptedUpstream> {
    const upstream = new ScriptedUpstream(name);
    if (head) upstream.setHead(head);
    upstream.#server.listen(0, "127.0.0.1");
    await once(upstream.#server, "listening");
    onTestFinished(() => {
      upstream.#server.closeAllConnections();
      upstream.#server.close();
    });
    return upstream;
  }

  private constructor(name: string) {
    this.name = name;
    this.#server = createServer((req, res) => this.#answer(req, res));
  }

  options(more: Partial<UpstreamOptions> = {}): UpstreamOptions {
    const { port } = this.#server.address() as AddressInfo;
    return { name: this.name, url: `http://127.0.0.1:${port}`, tier: 0, weight: 1, ...more };
  }

  /** What it answers when it is asked, without telling anybody. */
  setHead(head: ScriptedBlock): void {
    this.#head = head;
    for (let at: ScriptedBlock | undefined = head; at; at = at.parent) this.#blocks.set(at.root, at);
  }

  /** Its head moves to a block, of which it tells. */
  imports(head: ScriptedBlock): void {
    this.setHead(head);
    this.tellBlock(head);
    this.tellHead(head);
  }

  tellBlock(told: ScriptedBlock): void {
    this.tell("block", blockEvent(told));
  }

  tellHead(head: ScriptedBlock): void {
    this.tell("head", headEvent(head));
  }

  tell(topic: string, value: unknown): void {
    this.write(`event: ${topic}\ndata: ${JSON.stringify(value)}\n\n`, topic);
  }

  /** To the subscribers of a topic, or to all. */
  write(text: string, topic?: string): void {
    for (const [res, topics] of this.#open) if (topic === undefined || topics.includes(topic)) res.write(text);
  }

  letGo(): void {
    for (const res of this.#open.keys()) if (res.writableCorked > 0) res.uncork();
  }

  get connections(): number {
    return this.#open.size;
  }

  /** Ends all streams of events, or so many of them that were opened first. */
  breakOff(count = this.#open.size): void {
    for (const res of [...this.#open.keys()].slice(0, count)) res.destroy();
  }

  /** Resolves when so many streams are open. */
  async connected(count = 1): Promise<void> {
    await this.until(() => this.#open.size === count);
  }

  /** Resolves when something is true after a stream was opened, refused or closed. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** What is at a path. */
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
    const message = {
      slot: String(found.slot),
      proposer_index: "0",
      parent_root: found.parent?.root ?? rootOf("b", 0, 15),
      state_root: stateRootOf(found),
      body_root: rootOf("0", 0, 0),
    };
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
    const answer = this.answerTo(pathname);
    res.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  #subscribe(topics: string[], res: ServerResponse): void {
    this.subscriptions.push(topics);
    if (topics.some((topic) => this.unknownTopics.has(topic))) {
      res.writeHead(400).end();
    } else if (this.isOverloaded) {
      res.writeHead(503).end();
    } else {
      res.writeHead(200, { "content-type": "text/event-stream" });
      if (this.holdsBack) res.cork();
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

/** Asks scripted upstreams over their sockets. */
export function askOf(upstreams: readonly ScriptedUpstream[]) {
  return async (name: string, path: string): Promise<Buffer | undefined> => {
    const { url } = upstreams.find((upstream) => upstream.name === name)!.options();
    const response = await fetch(url + path);
    const body = Buffer.from(await response.arrayBuffer());
    return response.status === 404 ? undefined : body;
  };
}

/** Time passes, in steps, until something is true for which sockets need some turns of the event loop. */
export async function passUntil(timers: FakeTimers, step: number, condition: () => boolean): Promise<void> {
  while (!condition()) await timers.advance(step);
}
