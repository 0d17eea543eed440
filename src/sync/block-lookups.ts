import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { Clock } from "../chain/clock/clock.ts";
import { LruMap } from "../collections/lru-map.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";

const MAX_CONCURRENT = 4;
const MAX_QUEUED = 32;
const MAX_PER_PEER = 4;
const MAX_PEERS_PER_LOOKUP = 5;
const MAX_MISSING = 512;
/** Number of slots for which an unavailable block is not requested again. */
const MISSING_BACKOFF_SLOTS = 4;

/** The result of a successful lookup. */
export interface FoundBlocks {
  /** The requested block, possibly followed by ancestors in descending order. */
  blocks: readonly SignedBeaconBlock[];
  /** Root of the first block. */
  root: RootHex;
  servingPeer: string;
  /** Peers that referred to the block. */
  referrers: ReadonlySet<string>;
}

interface Lookup {
  root: RootHex;
  /** Number of blocks to request, including the first one. */
  count: number;
  referrers: Set<string>;
}

interface BlockLookupsParts {
  peers: SyncPeers;
  clock: Pick<Clock, "currentSlot">;
  logger: Logger;
  /** Verifies the proposer signature, which the block root does not cover. */
  isSigned(signed: SignedBeaconBlock): Promise<boolean>;
  onFound(found: FoundBlocks): void;
  onMissing(root: RootHex): void;
}

/**
 * Looks up blocks by root, with or without ancestors, running one lookup per root at a time. Peers are tried in order
 * of score, and after them the first peers that referred to the block, so that a few misbehaving peers cannot exhaust
 * the attempts.
 */
export class BlockLookups {
  readonly #parts: BlockLookupsParts;
  /** Running and queued lookups in order of arrival. */
  readonly #lookups = new Map<RootHex, Lookup>();
  readonly #running = new Map<RootHex, Promise<void>>();
  readonly #missing = new LruMap<RootHex, Slot>(MAX_MISSING);
  readonly #statusRequestedAt = new Map<string, Slot>();
  readonly #closed = new AbortController();

  constructor(parts: BlockLookupsParts) {
    this.#parts = parts;
  }

  isPending(root: RootHex): boolean {
    return this.#lookups.has(root);
  }

  seek(root: RootHex, referrers: Iterable<string>, count: number): void {
    if (this.#closed.signal.aborted || this.#isMissing(root)) return;
    const existing = this.#lookups.get(root);
    if (existing) {
      for (const peerId of referrers) existing.referrers.add(peerId);
      return;
    }
    const admitted = [...referrers].filter((peerId) => this.#countOf(peerId) < MAX_PER_PEER);
    if (admitted.length === 0 || this.#lookups.size >= MAX_QUEUED) return;
    this.#lookups.set(root, { root, count, referrers: new Set(admitted) });
    this.#runNext();
  }

  /** Returns true at most once per peer and slot. */
  shouldRequestStatus(peerId: string): boolean {
    const { currentSlot } = this.#parts.clock;
    for (const [id, slot] of this.#statusRequestedAt) if (slot < currentSlot) this.#statusRequestedAt.delete(id);
    if (this.#statusRequestedAt.has(peerId)) return false;
    this.#statusRequestedAt.set(peerId, currentSlot);
    return true;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running.values());
  }

  #isMissing(root: RootHex): boolean {
    const since = this.#missing.get(root);
    return since !== undefined && this.#parts.clock.currentSlot - since < MISSING_BACKOFF_SLOTS;
  }

  #countOf(peerId: string): number {
    let count = 0;
    for (const { referrers } of this.#lookups.values()) if (referrers.has(peerId)) count++;
    return count;
  }

  #runNext(): void {
    for (const lookup of this.#lookups.values()) {
      if (this.#running.size >= MAX_CONCURRENT || this.#closed.signal.aborted) return;
      if (!this.#running.has(lookup.root)) this.#running.set(lookup.root, this.#run(lookup));
    }
  }

  async #run(lookup: Lookup): Promise<void> {
    const { root, referrers } = lookup;
    const result = await this.#ask(lookup);
    this.#running.delete(root);
    this.#lookups.delete(root);
    if (this.#closed.signal.aborted) return;
    try {
      if (result) this.#parts.onFound({ ...result, root, referrers });
      else this.#noteMissing(root);
    } catch (error) {
      this.#parts.logger.error("Could not process looked up block", { root, error });
    }
    this.#runNext();
  }

  #noteMissing(root: RootHex): void {
    this.#missing.set(root, this.#parts.clock.currentSlot);
    this.#parts.onMissing(root);
  }

  async #ask({ root, count, referrers }: Lookup): Promise<Pick<FoundBlocks, "blocks" | "servingPeer"> | null> {
    const { peers } = this.#parts;
    const { signal } = this.#closed;
    const triedPeers = new Set<string>();
    while (triedPeers.size < MAX_PEERS_PER_LOOKUP && !signal.aborted) {
      const peerId = this.#nextPeer(referrers, triedPeers);
      if (peerId === undefined) return null;
      triedPeers.add(peerId);
      try {
        const received = await peers.blockWithAncestors(peerId, { root, count }, signal);
        const blocks = await this.#untilForged(received);
        if (blocks.length < received.length)
          peers.penalize(peerId, "severe", "block with an invalid proposer signature");
        if (blocks.length > 0) return { blocks, servingPeer: peerId };
        if (received.length === 0 && referrers.has(peerId))
          peers.penalize(peerId, "mild", "referenced a block that it does not have");
      } catch {
        // The failure has already been penalized. Another peer may have the block.
      }
    }
    return null;
  }

  /** Returns the blocks before the first one with an invalid signature. */
  async #untilForged(blocks: readonly SignedBeaconBlock[]): Promise<readonly SignedBeaconBlock[]> {
    for (const [index, signed] of blocks.entries()) {
      if (!(await this.#parts.isSigned(signed))) return blocks.slice(0, index);
    }
    return blocks;
  }

  #nextPeer(referrers: ReadonlySet<string>, triedPeers: ReadonlySet<string>): string | undefined {
    const connected = this.#parts.peers.list().filter(({ peerId }) => !triedPeers.has(peerId));
    const furthest = connected.sort(
      (a, b) =>
        b.score - a.score ||
        Number(referrers.has(b.peerId)) - Number(referrers.has(a.peerId)) ||
        b.status.headSlot - a.status.headSlot,
    );
    return furthest[0]?.peerId;
  }
}
