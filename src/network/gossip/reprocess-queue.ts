import type { RootHex, Slot } from "@lodestar/types";

export interface ReprocessLimits {
  maxRoots: number;
  maxItems: number;
  /** Roots that one peer may be the first to name while they are awaited: each makes this node ask others for a block. */
  maxRootsPerPeer: number;
  /** Nobody has looked at the signatures of what waits, so that one peer could take all places with what it made up. */
  maxItemsPerPeer: number;
}

interface Awaited<Item> {
  since: Slot;
  firstPeer: string;
  items: { item: Item; peerId: string }[];
}

/**
 * Attestations that came before the block they are for, which happens all the time. They wait until the block is there,
 * or until the slot after the one in which the first of them came is over.
 */
export class ReprocessQueue<Item> {
  readonly #limits: ReprocessLimits;
  readonly #byRoot = new Map<RootHex, Awaited<Item>>();
  readonly #itemsOfPeer = new Map<string, number>();
  #itemCount = 0;

  constructor(limits: ReprocessLimits) {
    this.#limits = limits;
  }

  /** `first` when nobody has named the block yet, `full` when the item cannot wait. */
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

  /** What waited for the block. */
  release(root: RootHex): Item[] {
    const items = this.#byRoot.get(root)?.items ?? [];
    this.#byRoot.delete(root);
    for (const { peerId } of items) this.#count(peerId, -1);
    return items.map(({ item }) => item);
  }

  /** What has waited long enough, now that a slot begins. */
  expire(currentSlot: Slot): Item[] {
    const expired = [...this.#byRoot].filter(([, { since }]) => since + 1 < currentSlot);
    return expired.flatMap(([root]) => this.release(root));
  }

  /** Everything that still waits. */
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
