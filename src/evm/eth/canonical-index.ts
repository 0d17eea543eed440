import type { ExecutedBlocks } from "../engine/executed-blocks.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";

interface Entry {
  hash: string;
  transactions: readonly string[];
}

/**
 * Change to the canonical chain caused by a new head: blocks that are no longer canonical, newest first, and new
 * canonical blocks, oldest first.
 */
export interface HeadChange {
  removed: ExecutedBlock[];
  added: ExecutedBlock[];
  head: ExecutedBlock;
}

/** Canonical blocks in memory, indexed by number and by transaction. */
export class CanonicalIndex {
  readonly #blocks: ExecutedBlocks;
  readonly #byNumber = new Map<bigint, Entry>();
  readonly #byTransaction = new Map<string, bigint>();
  #latest = 0n;

  constructor(blocks: ExecutedBlocks) {
    this.#blocks = blocks;
    this.#byNumber.set(0n, { hash: toHex(blocks.genesis.hash), transactions: [] });
  }

  /** Number of the latest block. */
  get latest(): bigint {
    return this.#latest;
  }

  /** Number of the oldest block in memory other than genesis. If there is none, the number after the latest block. */
  get oldestRecent(): bigint {
    let oldest = this.#latest + 1n;
    for (const number of this.#byNumber.keys()) if (number < oldest && number > 0n) oldest = number;
    return oldest;
  }

  hashAt(number: bigint): string | undefined {
    return this.#byNumber.get(number)?.hash;
  }

  numberOfTransaction(hash: string): bigint | undefined {
    return this.#byTransaction.get(hash);
  }

  /** Makes the branch ending at `head` canonical. */
  follow(head: ExecutedBlock): HeadChange {
    const removed: (ExecutedBlock | undefined)[] = [];
    const added: ExecutedBlock[] = [];
    for (let number = this.#latest; number > head.header.number; number--) removed.push(this.#remove(number));
    for (let block: ExecutedBlock | undefined = head; block !== undefined; block = this.#blocks.parentOf(block)) {
      const { number } = block.header;
      if (this.hashAt(number) === toHex(block.hash)) break;
      removed.push(this.#remove(number));
      added.unshift(block);
    }
    for (const block of added) this.#add(block);
    this.#latest = head.header.number;
    return { removed: removed.filter((block) => block !== undefined), added, head };
  }

  /** Drops blocks that are no longer in memory. */
  prune(): void {
    for (const [number, { hash }] of this.#byNumber) {
      if (this.#blocks.get(hash) === undefined) this.#remove(number);
    }
  }

  #add(block: ExecutedBlock): void {
    const { number } = block.header;
    const transactions = block.transactions.map(({ hash }) => toHex(hash));
    this.#byNumber.set(number, { hash: toHex(block.hash), transactions });
    for (const hash of transactions) this.#byTransaction.set(hash, number);
  }

  #remove(number: bigint): ExecutedBlock | undefined {
    const entry = this.#byNumber.get(number);
    if (entry === undefined) return undefined;
    this.#byNumber.delete(number);
    for (const hash of entry.transactions) this.#byTransaction.delete(hash);
    return this.#blocks.get(entry.hash);
  }
}
