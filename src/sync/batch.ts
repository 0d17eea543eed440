import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { BlockRange } from "../network/reqresp/interface.ts";
import type { ServedPayloads } from "./served-payloads.ts";

type BatchState = "waiting" | "downloading" | "downloaded" | "imported";

/** Summary of a response, kept in case the response is disputed later. */
interface BatchResponse {
  peerId: string;
  count: number;
  last: SignedBeaconBlock | null;
  isImported: boolean;
}

/** The part of the canonical chain that lies within a batch's slots. */
interface ChainPart {
  /** The last block in these slots, or null if they are empty. */
  last: RootHex | null;
  /** Returns the block at or before the slot. */
  rootAt(slot: Slot): RootHex | undefined;
  rootOf(signed: SignedBeaconBlock): RootHex;
}

/** Peers whose responses lack blocks of the chain (`withheld`) or belong to a different chain (`strayed`). */
export interface FaultyPeers {
  withheld: string[];
  strayed: string[];
}

/** A range of slots that is downloaded from one peer at a time. */
export class Batch {
  readonly range: BlockRange;
  /** Number of download attempts per peer. Untried peers are preferred. */
  readonly attempts = new Map<string, number>();
  /** Number of imports that failed because blocks were rejected or did not connect. */
  rejections = 0;
  failures = 0;
  readonly #disputed: BatchResponse[] = [];
  #state: BatchState = "waiting";
  #blocks: SignedBeaconBlock[] = [];
  #payloads: ServedPayloads = new Map();
  #response: BatchResponse | null = null;

  constructor(range: BlockRange) {
    this.range = range;
  }

  get state(): BatchState {
    return this.#state;
  }

  get blocks(): SignedBeaconBlock[] {
    return this.#blocks;
  }

  /** Payloads of the current blocks since gloas, as far as they were served. */
  get payloads(): ServedPayloads {
    return this.#payloads;
  }

  /** The peer that served the current blocks. */
  get servingPeer(): string | null {
    return this.#response?.peerId ?? null;
  }

  get lastSlot(): Slot {
    return this.range.startSlot + this.range.count - 1;
  }

  startDownload(peerId: string): void {
    this.#state = "downloading";
    this.attempts.set(peerId, (this.attempts.get(peerId) ?? 0) + 1);
  }

  downloaded(peerId: string, blocks: SignedBeaconBlock[], payloads: ServedPayloads = new Map()): void {
    this.#state = "downloaded";
    this.#blocks = blocks;
    this.#payloads = payloads;
    this.#response = { peerId, count: blocks.length, last: blocks.at(-1) ?? null, isImported: false };
  }

  /** Marks the blocks as imported. Only a summary of the response is kept, in case it turns out to be incomplete. */
  markImported(): void {
    this.#state = "imported";
    if (this.#response !== null) this.#response.isImported = true;
    this.#blocks = [];
    this.#payloads = new Map();
  }

  /** Schedules another download. */
  retry(): void {
    this.#state = "waiting";
    this.#blocks = [];
    this.#payloads = new Map();
    this.#response = null;
  }

  /**
   * Schedules another download because this batch's response or an adjacent one is wrong. The next response shows
   * which.
   */
  dispute(): void {
    if (this.#response !== null) this.#disputed.push(this.#response);
    this.retry();
  }

  /** Returns the peers that claimed the range was empty. */
  peersWithoutBlocks(): string[] {
    const responses = this.#response === null ? this.#disputed : [...this.#disputed, this.#response];
    return responses.filter(({ count }) => count === 0).map(({ peerId }) => peerId);
  }

  /** True if responses contradict each other. */
  get isDisputed(): boolean {
    return this.#disputed.length > 0;
  }

  /** Returns the peers whose responses contradict the given chain. The lists are empty if no response is disputed. */
  faultyPeers({ last, rootAt, rootOf }: ChainPart): FaultyPeers {
    if (!this.isDisputed || this.#response === null) return { withheld: [], strayed: [] };
    const responses = [...this.#disputed, this.#response].map((response) => {
      const root = response.last && rootOf(response.last);
      return { ...response, root, isOfChain: response.last === null || rootAt(response.last.message.slot) === root };
    });
    // Imported blocks have no gaps, but blocks at the start may be missing if they were already known. A response with
    // more blocks may be right.
    const imported = responses.filter(({ root, isImported }) => root === last && isImported);
    const count = Math.max(...imported.map((response) => response.count));
    const faulty = responses.filter((response) => response.root !== last || response.count < count);
    return {
      withheld: faulty.filter(({ isOfChain }) => isOfChain).map(({ peerId }) => peerId),
      strayed: faulty.filter(({ isOfChain }) => !isOfChain).map(({ peerId }) => peerId),
    };
  }
}
