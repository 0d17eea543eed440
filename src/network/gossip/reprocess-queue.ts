import type { RootHex, Slot } from "@lodestar/types";

export interface ReprocessLimits {
  maxRoots: number;
  maxItems: number;
  /** Maximum number of roots that one peer may refer to at a time. Each root triggers a block request. */
  maxRootsPerPeer: number;
  /**
   * Maximum number of queued items from one peer. Their signatures are not verified, so one peer could otherwise fill
   * the queue with forged items.
   */
  maxItemsPerPeer: number;
}

interface Awaited<Item> {
  since: Slot;
  firstPeer: string;
  items: { item: Item; peerId: string }[];
}

/**
 * Holds messages until the block they refer to has been imported. The items for a block expire at the end of the slot
 * after the one in which the first of them arrived.
 */
export class ReprocessQueue<Item> {
  readonly #limits: ReprocessLimits;
  readonly #byRoot = new Map<RootHex, Awaited<Item>>();
  readonly #itemsOfPeer = new Map<string, number>();
  #itemCount = 0;

  constructor(limits: ReprocessLimits) {
    this.#limits = limits;
  }

  /** Queues an item. Returns `first` for the first item that refers to a root, and `full` if a limit is reached. */
  hold(root: RootHex, item: Item, peerId: string, currentSlot: Slot): "first" | "held" | "full" {
    const { maxRoots, maxItems, maxRootsPerPeer, maxItemsPerPeer } = this.#limits;
    if (this.#itemCount >= maxItems || this.#itemsOf(peerId) >= maxItemsPerPeer) return "full";
    const awaited = this.#byRoot.get(root);
    if (!awaited && (this.#byRoot.size >= maxRoots || this.#rootsOf(peerId) >= maxRootsPerPeer)) return "full";
    if (awaited) awaited.items.push({ item, peerId });
    else this.#byRoot.set(root, { since: currentSlot, firstPeer: peerId, items: [{ item, peerId }] });
    this.#count(peerId, 1);
    return awaited ? "held" : "first";
  }

  /** Removes and returns the items that were waiting for the block. */
  release(root: RootHex): Item[] {
    const items = this.#byRoot.get(root)?.items ?? [];
    this.#byRoot.delete(root);
    for (const { peerId } of items) this.#count(peerId, -1);
    return items.map(({ item }) => item);
  }

  /** Removes and returns the expired items. */
  expire(currentSlot: Slot): Item[] {
    const expired = [...this.#byRoot].filter(([, { since }]) => since + 1 < currentSlot);
    return expired.flatMap(([root]) => this.release(root));
  }

  /** Removes and returns all items. */
  clear(): Item[] {
    return [...this.#byRoot.keys()].flatMap((root) => this.release(root));
  }

  #count(peerId: string, change: number): void {
    this.#itemCount += change;
    const ofPeer = this.#itemsOf(peerId) + change;
    if (ofPeer > 0) this.#itemsOfPeer.set(peerId, ofPeer);
    else this.#itemsOfPeer.delete(peerId);
  }

  #itemsOf(peerId: string): number {
    return this.#itemsOfPeer.get(peerId) ?? 0;
  }

  #rootsOf(peerId: string): number {
    let roots = 0;
    for (const { firstPeer } of this.#byRoot.values()) if (firstPeer === peerId) roots++;
    return roots;
  }
}
