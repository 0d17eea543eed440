import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../../log/logger.ts";
import type { ExecutedBlock } from "../../execution/block.ts";
import { toHex } from "../../execution/payload.ts";
import type { ChainRules } from "../../execution/rules.ts";
import type { ChainOverrides } from "../../overrides/chain-overrides.ts";
import type { TransactionPool } from "../../pool/transaction-pool.ts";
import type { BlockReplay } from "../block-replay.ts";
import type { ExecutedBlocks } from "../executed-blocks.ts";
import { BlockArchive } from "./block-archive.ts";
import type { EvmStore } from "./evm-store.ts";
import { PoolJournal } from "./pool-journal.ts";
import type { StoredBase } from "./stored-base.ts";

interface FinalizedStoreParts {
  rules: ChainRules;
  blocks: ExecutedBlocks;
  pool: TransactionPool;
  overrides: ChainOverrides;
  base: StoredBase;
  replay: BlockReplay;
  logger: Logger;
}

/** Number of blocks per write while filling a gap in the archive. */
const BLOCKS_PER_WRITE = 128;

/** Stores finalized blocks and, at intervals, a finalized state. Prunes the pool's journal. */
export class FinalizedStore {
  readonly #parts: FinalizedStoreParts;
  #archive: BlockArchive | undefined;
  #journal: PoolJournal | undefined;
  #finalized: ExecutedBlock;
  #writing: Promise<void> = Promise.resolve();
  /** Number of transactions discarded by the pool that have already been deleted from the journal. */
  #discards = 0;

  constructor(parts: FinalizedStoreParts) {
    this.#parts = parts;
    this.#finalized = parts.blocks.genesis;
  }

  /** Connects to the database. Until then, nothing is stored. */
  connect(store: EvmStore): void {
    const { rules, pool } = this.#parts;
    this.#archive = new BlockArchive(store, rules);
    this.#journal = new PoolJournal(store, pool);
  }

  get finalized(): ExecutedBlock {
    return this.#finalized;
  }

  /** Archive of finalized blocks. Undefined until connected. */
  get archive(): BlockArchive | undefined {
    return this.#archive;
  }

  /** Journal of the pool. Undefined until connected. */
  get journal(): PoolJournal | undefined {
    return this.#journal;
  }

  /** Adds the journal's transactions to the pool, except for those included after the finalized block. */
  async loadJournal(): Promise<void> {
    await this.#journal?.load(this.#transactionsAfter(this.#finalized.header.number));
  }

  /**
   * Deletes from the journal the transactions that the pool has discarded since the last call, so that a restart does
   * not restore them.
   */
  async pruneDiscarded(): Promise<void> {
    const { discards } = this.#parts.pool;
    if (discards === this.#discards) return;
    this.#discards = discards;
    await this.#journal?.prune(this.#transactionsAfter(this.#finalized.header.number));
  }

  /** Marks a block as finalized if the block is known. */
  finalize(blockHash: RootHex): void {
    const { blocks } = this.#parts;
    const finalized = blocks.get(blockHash);
    if (finalized === undefined || finalized === this.#finalized) return;
    const finalBlocks = blocks.branchAbove(this.#finalized.header.number, finalized);
    this.#finalized = finalized;
    blocks.prune(finalized);
    this.writeLater(() => this.#write(finalized, finalBlocks));
  }

  /** Queues a write behind all pending writes. Logs failures. */
  writeLater(write: () => Promise<void>): void {
    this.#writing = this.#writing
      .then(write)
      .catch((error: unknown) => this.#parts.logger.warn("Storing the execution state failed", { error }));
  }

  /** Resolves once all writes have completed. */
  flush(): Promise<void> {
    return this.#writing;
  }

  /** Returns a function that reverts to the current finalized block. The database is reverted separately. */
  capture(): () => void {
    const finalized = this.#finalized;
    const restoreBase = this.#parts.base.capture();
    const restoreJournal = this.#journal?.capture();
    return () => {
      this.#finalized = finalized;
      restoreBase();
      restoreJournal?.();
    };
  }

  async #write(finalized: ExecutedBlock, finalBlocks: readonly ExecutedBlock[]): Promise<void> {
    const archive = this.#archive;
    const { number } = finalized.header;
    if (archive === undefined || this.#isReverted(number)) return;
    await this.#fillGap(archive, finalBlocks);
    if (this.#isReverted(number)) return;
    await archive.append(finalBlocks);
    await this.#journal?.prune(this.#transactionsAfter(number));
    await this.#parts.overrides.settle(number, (hash) => archive.has(hash));
    await this.#parts.base.advance(finalBlocks);
  }

  /** Returns true if the chain was reverted to a point before a finalized block. */
  #isReverted(number: bigint): boolean {
    return number > this.#finalized.header.number;
  }

  /** Archives finalized blocks that are no longer in memory. Re-executes them to obtain their receipts. */
  async #fillGap(archive: BlockArchive, finalBlocks: readonly ExecutedBlock[]): Promise<void> {
    const { replay, logger } = this.#parts;
    const [first, last] = [finalBlocks[0], finalBlocks.at(-1)];
    const archived = await archive.last();
    if (first === undefined || last === undefined || first.header.number <= archived + 1n) return;
    let filled: ExecutedBlock[] = [];
    for await (const block of replay.replay(toHex(last.hash), archived)) {
      const { number } = block.header;
      if (number >= first.header.number) break;
      if (number > archived) filled.push(block);
      if (filled.length < BLOCKS_PER_WRITE) continue;
      if (this.#isReverted(last.header.number)) return;
      await archive.append(filled);
      filled = [];
    }
    if (!this.#isReverted(last.header.number)) await archive.append(filled);
    const end = await archive.last();
    if (end + 1n >= first.header.number) return;
    logger.warn("Finalized execution blocks missing in the archive", {
      from: Number(end) + 1,
      to: Number(first.header.number) - 1,
    });
  }

  /** Returns the hashes of transactions in later blocks on all branches. */
  #transactionsAfter(number: bigint): Set<RootHex> {
    const hashes = new Set<RootHex>();
    for (const { header, transactions } of this.#parts.blocks.all()) {
      if (header.number > number) for (const { hash } of transactions) hashes.add(toHex(hash));
    }
    return hashes;
  }
}
