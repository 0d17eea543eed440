import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { Clock } from "../chain/clock/clock.ts";
import { LruMap } from "../chain/lru-map.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";

const AT_ONCE = 4;
const WAITING = 32;
const PER_PEER = 4;
const PEERS_ASKED = 5;
const MISSING_HELD = 512;
/** A block that nobody had is not sought again for so many slots. */
const MISSING_SLOTS = 4;

export interface FoundBlocks {
  /** The block that was sought, and perhaps some before it, each the parent of the one before. */
  blocks: readonly SignedBeaconBlock[];
  /** Of the first. */
  root: RootHex;
  giver: string;
  /** The peers because of which it was sought. */
  seekers: ReadonlySet<string>;
}

interface Lookup {
  root: RootHex;
  /** How many blocks are wanted, the sought one among them. */
  count: number;
  seekers: Set<string>;
}

interface BlockLookupsParts {
  peers: SyncPeers;
  clock: Pick<Clock, "currentSlot">;
  logger: Logger;
  /** Whether the block may be signed by its proposer. The root by which it is asked for does not cover the signature. */
  isSigned(signed: SignedBeaconBlock): Promise<boolean>;
  onFound(found: FoundBlocks): void;
  onMissing(root: RootHex): void;
}

/**
 * Asks peers for blocks by root, alone or with some before them, each once at a time: first those that spoke of the block, then others. Whoever did
 * wrong comes last, so that a few that speak of what they do not have cannot use up the questions.
 */
export class BlockLookups {
  readonly #parts: BlockLookupsParts;
  /** Under way or waiting, in the order of their coming. */
  readonly #lookups = new Map<RootHex, Lookup>();
  readonly #running = new Map<RootHex, Promise<void>>();
  readonly #missing = new LruMap<RootHex, Slot>(MISSING_HELD);
  readonly #bothered = new Map<string, Slot>();
  readonly #closed = new AbortController();

  constructor(parts: BlockLookupsParts) {
    this.#parts = parts;
  }

  isSought(root: RootHex): boolean {
    return this.#lookups.has(root);
  }

  seek(root: RootHex, seekers: Iterable<string>, count: number): void {
    if (this.#closed.signal.aborted || this.#isMissing(root)) return;
    const known = this.#lookups.get(root);
    if (known) {
      for (const peerId of seekers) known.seekers.add(peerId);
      return;
    }
    const admitted = [...seekers].filter((peerId) => this.#countOf(peerId) < PER_PEER);
    if (admitted.length === 0 || this.#lookups.size >= WAITING) return;
    this.#lookups.set(root, { root, count, seekers: new Set(admitted) });
    this.#runNext();
  }

  /** Whether the peer was not asked for its status in this slot already; notes that it is now. */
  mayBother(peerId: string): boolean {
    const { currentSlot } = this.#parts.clock;
    for (const [id, slot] of this.#bothered) if (slot < currentSlot) this.#bothered.delete(id);
    if (this.#bothered.has(peerId)) return false;
    this.#bothered.set(peerId, currentSlot);
    return true;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running.values());
  }

  #isMissing(root: RootHex): boolean {
    const since = this.#missing.get(root);
    return since !== undefined && this.#parts.clock.currentSlot - since < MISSING_SLOTS;
  }

  #countOf(peerId: string): number {
    let count = 0;
    for (const { seekers } of this.#lookups.values()) if (seekers.has(peerId)) count++;
    return count;
  }

  #runNext(): void {
    for (const lookup of this.#lookups.values()) {
      if (this.#running.size >= AT_ONCE || this.#closed.signal.aborted) return;
      if (!this.#running.has(lookup.root)) this.#running.set(lookup.root, this.#run(lookup));
    }
  }

  async #run(lookup: Lookup): Promise<void> {
    const { root, seekers } = lookup;
    const found = await this.#ask(lookup);
    this.#running.delete(root);
    this.#lookups.delete(root);
    if (this.#closed.signal.aborted) return;
    try {
      if (found) this.#parts.onFound({ ...found, root, seekers });
      else this.#noteMissing(root);
    } catch (error) {
      this.#parts.logger.error("A block that was fetched by its root could not be used", { root, error });
    }
    this.#runNext();
  }

  #noteMissing(root: RootHex): void {
    this.#missing.set(root, this.#parts.clock.currentSlot);
    this.#parts.onMissing(root);
  }

  async #ask({ root, count, seekers }: Lookup): Promise<Pick<FoundBlocks, "blocks" | "giver"> | null> {
    const { peers } = this.#parts;
    const { signal } = this.#closed;
    const asked = new Set<string>();
    while (asked.size < PEERS_ASKED && !signal.aborted) {
      const peerId = this.#nextPeer(seekers, asked);
      if (peerId === undefined) return null;
      asked.add(peerId);
      try {
        const given = await peers.blockWithAncestors(peerId, { root, count }, signal);
        const blocks = await this.#untilForged(given);
        if (blocks.length < given.length)
          peers.penalize(peerId, "severe", "gave a block that its proposer did not sign");
        if (blocks.length > 0) return { blocks, giver: peerId };
        if (given.length === 0 && seekers.has(peerId))
          peers.penalize(peerId, "mild", "speaks of a block that it does not have");
      } catch {
        // The network has taken note of the failure; another peer may have the block.
      }
    }
    return null;
  }

  /** The blocks before the first that is not signed by its proposer. */
  async #untilForged(blocks: readonly SignedBeaconBlock[]): Promise<readonly SignedBeaconBlock[]> {
    for (const [index, signed] of blocks.entries()) {
      if (!(await this.#parts.isSigned(signed))) return blocks.slice(0, index);
    }
    return blocks;
  }

  #nextPeer(seekers: ReadonlySet<string>, asked: ReadonlySet<string>): string | undefined {
    const connected = this.#parts.peers.list().filter(({ peerId }) => !asked.has(peerId));
    const furthest = connected.sort(
      (a, b) =>
        b.score - a.score ||
        Number(seekers.has(b.peerId)) - Number(seekers.has(a.peerId)) ||
        b.status.headSlot - a.status.headSlot,
    );
    return furthest[0]?.peerId;
  }
}
