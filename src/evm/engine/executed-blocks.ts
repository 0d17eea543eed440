import type { RootHex } from "@lodestar/types";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import type { Transaction } from "../execution/transaction.ts";

/** Number of blocks kept before the finalized one, for calls on recent history. */
const KEPT_FINALIZED = 128n;
/** Bounds memory during non-finality. Older blocks are rebuilt from their payloads. */
const MAX_BLOCKS = 8192;

/** Blocks found on only one of two branches. */
export interface Divergence {
  lost: readonly ExecutedBlock[];
  gained: readonly ExecutedBlock[];
}

/** Executed blocks by hash: all blocks since the finalized one, some earlier blocks, and genesis. */
export class ExecutedBlocks {
  readonly genesis: ExecutedBlock;
  readonly #blocks = new Map<RootHex, ExecutedBlock>();
  readonly #maxBlocks: number;
  readonly #onChange: () => void;

  /** Calls `onChange` for each added block, and after dropping blocks. */
  constructor(genesis: ExecutedBlock, maxBlocks = MAX_BLOCKS, onChange: () => void = () => {}) {
    this.genesis = genesis;
    this.#maxBlocks = maxBlocks;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#blocks.size;
  }

  get(hash: RootHex): ExecutedBlock | undefined {
    return hash === toHex(this.genesis.hash) ? this.genesis : this.#blocks.get(hash);
  }

  parentOf({ header }: ExecutedBlock): ExecutedBlock | undefined {
    return this.get(toHex(header.parentHash));
  }

  add(block: ExecutedBlock): void {
    this.#blocks.set(toHex(block.hash), block);
    this.#onChange();
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#maxBlocks) return;
      this.#blocks.delete(oldest);
    }
  }

  drop(hash: RootHex): void {
    this.#blocks.delete(hash);
  }

  all(): Iterable<ExecutedBlock> {
    return this.#blocks.values();
  }

  /** Returns a branch's blocks above a number that are in memory, oldest first. */
  branchAbove(number: bigint, head: ExecutedBlock): ExecutedBlock[] {
    const branch: ExecutedBlock[] = [];
    let block: ExecutedBlock | undefined = head;
    for (; block !== undefined && block.header.number > number; block = this.parentOf(block)) branch.push(block);
    return branch.reverse();
  }

  /** Drops blocks that are far behind the finalized one. */
  prune({ header }: ExecutedBlock): void {
    for (const [hash, block] of this.#blocks) {
      if (block.header.number + KEPT_FINALIZED < header.number) this.#blocks.delete(hash);
    }
    this.#onChange();
  }

  /**
   * Returns the blocks found only on the old head's branch and those found only on the new head's branch, oldest first.
   * Both are empty if there is no common ancestor, which means a different chain rather than a reorg.
   */
  divergence(oldHead: ExecutedBlock, newHead: ExecutedBlock): Divergence {
    const lost: ExecutedBlock[] = [];
    const gained: ExecutedBlock[] = [];
    let [old, current]: [ExecutedBlock | undefined, ExecutedBlock | undefined] = [oldHead, newHead];
    while (old !== undefined && current !== undefined && toHex(old.hash) !== toHex(current.hash)) {
      if (old.header.number >= current.header.number) {
        lost.unshift(old);
        old = this.parentOf(old);
      } else {
        gained.unshift(current);
        current = this.parentOf(current);
      }
    }
    return old === undefined || current === undefined ? { lost: [], gained: [] } : { lost, gained };
  }
}

/** Returns the transactions from orphaned blocks that are missing on the new branch, oldest first. */
export function transactionsLost({ lost, gained }: Divergence): Transaction[] {
  const included = new Set(gained.flatMap(({ transactions }) => transactions.map(({ hash }) => toHex(hash))));
  return lost.flatMap(({ transactions }) => transactions.filter(({ hash }) => !included.has(toHex(hash))));
}
