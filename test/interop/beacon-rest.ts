import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 100;
/** Generous, for a busy machine. */
const PATIENCE_MS = 240_000;

export interface Head {
  slot: number;
  root: string;
}

interface BlockHeader {
  root: string;
  canonical: boolean;
  header: { message: { slot: string; parent_root: string } };
}

export interface Checkpoint {
  epoch: string;
  root: string;
}

/** Any beacon node, queried through the standard API. */
export class BeaconRest {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Undefined if the node does not have it. */
  async find<T>(path: string): Promise<T | undefined> {
    const response = await fetch(`${this.url}${path}`);
    if (response.status === 404) return undefined;
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return (JSON.parse(text) as { data: T }).data;
  }

  async get<T>(path: string): Promise<T> {
    const data = await this.find<T>(path);
    if (data === undefined) throw new Error(`${this.url} does not know ${path}.`);
    return data;
  }

  async bytes(path: string): Promise<Uint8Array> {
    const response = await fetch(`${this.url}${path}`, { headers: { accept: "application/octet-stream" } });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
    return response.bytes();
  }

  async head(): Promise<Head> {
    const head = await this.findHead();
    if (head === undefined) throw new Error(`${this.url} does not know the block of its head.`);
    return head;
  }

  /** Undefined if the node lacks the block, as after a checkpoint start. */
  async findHead(): Promise<Head | undefined> {
    const found = await this.find<BlockHeader>("/eth/v1/beacon/headers/head");
    return found && { root: found.root, slot: Number(found.header.message.slot) };
  }

  async finalized(): Promise<Checkpoint> {
    const { finalized } = await this.get<{ finalized: Checkpoint }>("/eth/v1/beacon/states/head/finality_checkpoints");
    return finalized;
  }

  /** Slots of a block and its ancestors down to a slot, newest first. All must be canonical. */
  async canonicalSlots(root: string, downTo: number): Promise<number[]> {
    const slots: number[] = [];
    for (let next = root; ; ) {
      const { canonical, header } = await this.get<BlockHeader>(`/eth/v1/beacon/headers/${next}`);
      if (!canonical)
        throw new Error(`The block ${next} of slot ${header.message.slot} is not canonical at ${this.url}.`);
      const slot = Number(header.message.slot);
      if (slot < downTo) return slots;
      slots.push(slot);
      if (slot === 0) return slots;
      next = header.message.parent_root;
    }
  }

  async untilHead(slot: number, patienceMs?: number): Promise<Head> {
    return until(
      () => this.head(),
      (head) => head.slot >= slot,
      patienceMs,
    );
  }
}

/** Polls until the answer matches, or a timeout. */
export async function until<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const begin = performance.now();
  for (;;) {
    const answer = await ask();
    if (await isWanted(answer)) return answer;
    if (performance.now() - begin > patienceMs) {
      throw new Error(`What was waited for did not come; the last answer was ${JSON.stringify(answer)}.`);
    }
    await delay(POLL_MS);
  }
}
