import type { RootHex, Slot } from "@lodestar/types";
import type { DataSidecar } from "../../data/sidecar.ts";

/** Blocks of about two epochs, and of proposers that sign several. */
const MAX_BLOCKS = 128;

interface PooledBlock {
  slot: Slot;
  sidecars: Map<number, DataSidecar>;
}

/**
 * The verified sidecars of blocks that are not on the chain yet, whichever way they came: by gossip, from peers that were asked, from
 * whoever published the block, from the execution client, or made of others.
 */
export class DataPool {
  readonly #blocks = new Map<RootHex, PooledBlock>();
  readonly #listeners = new Set<(root: RootHex) => void>();

  has(root: RootHex, index: number): boolean {
    return this.#blocks.get(root)?.sidecars.has(index) ?? false;
  }

  get(root: RootHex, index: number): DataSidecar | undefined {
    return this.#blocks.get(root)?.sidecars.get(index);
  }

  /** In ascending order of their indices. */
  all(root: RootHex): DataSidecar[] {
    return [...(this.#blocks.get(root)?.sidecars.values() ?? [])].sort((a, b) => a.index - b.index);
  }

  count(root: RootHex): number {
    return this.#blocks.get(root)?.sidecars.size ?? 0;
  }

  /** Where there are too many blocks, that of the lowest slot gives way. */
  add({ slot, root }: { slot: Slot; root: RootHex }, sidecars: readonly DataSidecar[]): void {
    const block = this.#blocks.get(root) ?? { slot, sidecars: new Map<number, DataSidecar>() };
    for (const sidecar of sidecars) block.sidecars.set(sidecar.index, sidecar);
    this.#blocks.set(root, block);
    if (this.#blocks.size > MAX_BLOCKS) this.#dropOldest();
    for (const listener of [...this.#listeners]) listener(root);
  }

  delete(root: RootHex): void {
    this.#blocks.delete(root);
  }

  /** Forgets the blocks of slots before. */
  prune(slot: Slot): void {
    for (const [root, block] of this.#blocks) if (block.slot < slot) this.#blocks.delete(root);
  }

  /** Calls the listener with the root of each block of which something was added. Returns the function that ends it. */
  onAdded(listener: (root: RootHex) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #dropOldest(): void {
    const [oldest] = [...this.#blocks].reduce((least, entry) => (entry[1].slot < least[1].slot ? entry : least));
    this.#blocks.delete(oldest);
  }
}
