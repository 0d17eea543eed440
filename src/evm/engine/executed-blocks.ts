import type { RootHex } from "@lodestar/types";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import type { Transaction } from "../execution/transaction.ts";

/** Kept before the finalized block, for calls about recent history. */
const KEPT_FINALIZED = 128n;
/** Bounds memory while nothing finalizes. Older blocks are rebuilt from their payloads. */
const MAX_BLOCKS = 8192;

/** Executed blocks by hash: everything since the finalized block, and some before it. Always holds genesis. */
export class ExecutedBlocks {
  readonly genesis: ExecutedBlock;
  readonly #blocks = new Map<RootHex, ExecutedBlock>();
  readonly #maxBlocks: number;

  constructor(genesis: ExecutedBlock, maxBlocks = MAX_BLOCKS) {
    this.genesis = genesis;
    this.#maxBlocks = maxBlocks;
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
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#maxBlocks) return;
      this.#blocks.delete(oldest);
    }
  }

  all(): Iterable<ExecutedBlock> {
    return this.#blocks.values();
  }

  /** Blocks of a branch above a number, the oldest first, as far as they are held. */
  branchAbove(number: bigint, head: ExecutedBlock): ExecutedBlock[] {
    const branch: ExecutedBlock[] = [];
    let block: ExecutedBlock | undefined = head;
    for (; block !== undefined && block.header.number > number; block = this.parentOf(block)) branch.push(block);
    return branch.reverse();
  }

  /** Forgets what lies well before the finalized block. */
  prune({ header }: ExecutedBlock): void {
    for (const [hash, block] of this.#blocks) {
      if (block.header.number + KEPT_FINALIZED < header.number) this.#blocks.delete(hash);
    }
  }

  /** Transactions that are in the branch of the old head, but not in that of the new one. The oldest come first. */
  transactionsLost(oldHead: ExecutedBlock, newHead: ExecutedBlock): Transaction[] {
    const lost: Transaction[][] = [];
    const included = new Set<string>();
    let [old, current]: [ExecutedBlock | undefined, ExecutedBlock | undefined] = [oldHead, newHead];
    while (old !== undefined && current !== undefined && toHex(old.hash) !== toHex(current.hash)) {
      if (old.header.number >= current.header.number) {
        lost.unshift([...old.transactions]);
        old = this.parentOf(old);
      } else {
        for (const { hash } of current.transactions) included.add(toHex(hash));
        current = this.parentOf(current);
      }
    }
    // Without a common ancestor it is another chain, not a reorganisation.
    if (old === undefined || current === undefined) return [];
    return lost.flat().filter(({ hash }) => !included.has(toHex(hash)));
  }
}
