import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { type DataSidecar, hasHeader, isColumn } from "../../data/sidecar.ts";

interface DataPoolLimits {
  blocks: number;
  bytes: number;
  /** Limit per proposer and slot. An equivocating proposer can sign any number of blocks. */
  blocksPerProposal: number;
}

/** Enough for a sync range with all columns, plus gossip. */
const LIMITS: DataPoolLimits = { blocks: 256, bytes: 512 * 2 ** 20, blocksPerProposal: 4 };

interface PooledBlock {
  slot: Slot;
  /** Unknown since gloas: sidecars name only their block. */
  proposer: ValidatorIndex | undefined;
  bytes: number;
  sidecars: Map<number, DataSidecar>;
}

interface DataPoolOptions {
  limits?: DataPoolLimits;
  /** True for a block that is waiting for its data, which is never evicted. */
  isAwaited?(root: RootHex): boolean;
}

/** Snapshot of the pool, part of a dev chain snapshot. */
export type PooledData = ReturnType<DataPool["capture"]>;

/**
 * Verified sidecars of blocks that have not been imported yet. The sidecars come from gossip, peers, publication, the
 * execution client or reconstruction.
 */
export class DataPool {
  readonly #limits: DataPoolLimits;
  readonly #isAwaited: (root: RootHex) => boolean;
  /** Ordered by most recent addition. */
  readonly #blocks = new Map<RootHex, PooledBlock>();
  readonly #listeners = new Set<(root: RootHex) => void>();
  #bytes = 0;

  constructor({ limits = LIMITS, isAwaited = () => false }: DataPoolOptions = {}) {
    this.#limits = limits;
    this.#isAwaited = isAwaited;
  }

  /** Number of blocks with sidecars, and the total size of the sidecars. */
  get size(): { blocks: number; bytes: number } {
    return { blocks: this.#blocks.size, bytes: this.#bytes };
  }

  has(root: RootHex, index: number): boolean {
    return this.#blocks.get(root)?.sidecars.has(index) ?? false;
  }

  get(root: RootHex, index: number): DataSidecar | undefined {
    return this.#blocks.get(root)?.sidecars.get(index);
  }

  /** Returns the sidecars of a block in ascending order of index. */
  all(root: RootHex): DataSidecar[] {
    return [...(this.#blocks.get(root)?.sidecars.values() ?? [])].sort((a, b) => a.index - b.index);
  }

  count(root: RootHex): number {
    return this.#blocks.get(root)?.sidecars.size ?? 0;
  }

  /**
   * Adds sidecars. At the limit, evicts the block that has gone longest without an addition. Blocks by the same
   * proposer for the same slot are evicted first, so that an equivocating proposer cannot evict other proposers' data.
   */
  add({ slot, root }: { slot: Slot; root: RootHex }, sidecars: readonly DataSidecar[]): void {
    this.#put({ slot, root }, sidecars);
    for (const listener of [...this.#listeners]) listener(root);
  }

  /** Deletes the given sidecars of a block, or all of them. */
  delete(root: RootHex, sidecars?: readonly DataSidecar[]): void {
    const block = this.#blocks.get(root);
    if (!block) return;
    for (const { index } of sidecars ?? [...block.sidecars.values()]) {
      const sidecar = block.sidecars.get(index);
      if (!sidecar) continue;
      block.sidecars.delete(index);
      this.#count(block, -bytesOf(sidecar));
    }
    if (block.sidecars.size === 0) this.#blocks.delete(root);
  }

  /** Deletes blocks before the given slot. */
  prune(slot: Slot): void {
    for (const [root, block] of [...this.#blocks]) if (block.slot < slot) this.delete(root);
  }

  /** Calls the listener with the block root when sidecars are added. Returns an unsubscribe function. */
  onAdded(listener: (root: RootHex) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  capture() {
    return [...this.#blocks].map(([root, { slot, sidecars }]) => ({ slot, root, sidecars: [...sidecars.values()] }));
  }

  /** Restores a snapshot without notifying listeners. */
  restore(data: PooledData): void {
    this.#blocks.clear();
    this.#bytes = 0;
    for (const { sidecars, ...block } of data) this.#put(block, sidecars);
  }

  #put({ slot, root }: { slot: Slot; root: RootHex }, sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (!first) return;
    const block = this.#blocks.get(root) ?? {
      slot,
      proposer: hasHeader(first) ? first.signedBlockHeader.message.proposerIndex : undefined,
      bytes: 0,
      sidecars: new Map<number, DataSidecar>(),
    };
    for (const sidecar of sidecars) {
      if (block.sidecars.has(sidecar.index)) continue;
      block.sidecars.set(sidecar.index, sidecar);
      this.#count(block, bytesOf(sidecar));
    }
    this.#blocks.delete(root);
    this.#blocks.set(root, block);
    this.#makeRoomFor(root, block);
  }

  #count(block: PooledBlock, bytes: number): void {
    block.bytes += bytes;
    this.#bytes += bytes;
  }

  #makeRoomFor(added: RootHex, { slot, proposer }: PooledBlock): void {
    const isOfProposal = (block: PooledBlock) => block.slot === slot && block.proposer === proposer;
    const ofProposal = proposer === undefined ? [] : [...this.#blocks].filter(([, block]) => isOfProposal(block));
    if (ofProposal.length > this.#limits.blocksPerProposal) {
      const oldest = ofProposal.find(([root]) => this.#isEvictable(root, added));
      if (oldest) this.delete(oldest[0]);
    }
    for (const root of [...this.#blocks.keys()]) {
      if (this.#blocks.size <= this.#limits.blocks && this.#bytes <= this.#limits.bytes) return;
      if (this.#isEvictable(root, added)) this.delete(root);
    }
  }

  #isEvictable(root: RootHex, added: RootHex): boolean {
    return root !== added && !this.#isAwaited(root);
  }
}

/** Returns the size of the data, ignoring the small fixed overhead of the objects. */
function bytesOf(sidecar: DataSidecar): number {
  return isColumn(sidecar) ? sidecar.column.reduce((sum, cell) => sum + cell.length, 0) : sidecar.blob.length;
}
