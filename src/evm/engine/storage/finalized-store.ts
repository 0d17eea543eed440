import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../../log/logger.ts";
import type { ExecutedBlock } from "../../execution/block.ts";
import { toHex } from "../../execution/payload.ts";
import type { ChainRules } from "../../execution/rules.ts";
import type { TransactionPool } from "../../pool/transaction-pool.ts";
import type { ExecutedBlocks } from "../executed-blocks.ts";
import { BlockArchive } from "./block-archive.ts";
import type { EvmStore } from "./evm-store.ts";
import { PoolJournal } from "./pool-journal.ts";
import { decodeBase, encodeBase, hashOfBase } from "./stored-world.ts";

interface FinalizedStoreParts {
  rules: ChainRules;
  blocks: ExecutedBlocks;
  pool: TransactionPool;
  logger: Logger;
  /** Finalized blocks between two stored states. */
  blocksBetweenBases?: number;
}

/** Bounds the blocks that a restart executes again. */
const BLOCKS_BETWEEN_BASES = 1024;

/** Stores what finality settles: blocks, from time to time a state, and which pooled transactions are included. */
export class FinalizedStore {
  readonly #parts: FinalizedStoreParts;
  readonly #blocksBetweenBases: bigint;
  #store: EvmStore | undefined;
  #archive: BlockArchive | undefined;
  #journal: PoolJournal | undefined;
  #finalized: ExecutedBlock;
  /** Number of the block whose state is stored. */
  #baseNumber = 0n;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: FinalizedStoreParts) {
    this.#parts = parts;
    this.#blocksBetweenBases = BigInt(parts.blocksBetweenBases ?? BLOCKS_BETWEEN_BASES);
    this.#finalized = parts.blocks.genesis;
  }

  /** Connects to the database. Until then nothing is stored. */
  connect(store: EvmStore): void {
    const { rules, pool } = this.#parts;
    this.#store = store;
    this.#archive = new BlockArchive(store, rules);
    this.#journal = new PoolJournal(store, pool);
  }

  get finalized(): ExecutedBlock {
    return this.#finalized;
  }

  /** Finalized blocks. Undefined until it is connected. */
  get archive(): BlockArchive | undefined {
    return this.#archive;
  }

  /** Journal of the pool. Undefined until it is connected. */
  get journal(): PoolJournal | undefined {
    return this.#journal;
  }

  /** Adds the stored transactions to the pool, except for those that a later block than the finalized one has. */
  async loadJournal(): Promise<void> {
    await this.#journal?.load(this.#transactionsAfter(this.#finalized.header.number));
  }

  /** Takes a block as finalized, if it is known. */
  finalize(blockHash: RootHex): void {
    const { blocks } = this.#parts;
    const finalized = blocks.get(blockHash);
    if (finalized === undefined || finalized === this.#finalized) return;
    const finalBlocks = blocks.branchAbove(this.#finalized.header.number, finalized);
    this.#finalized = finalized;
    blocks.prune(finalized);
    this.writeLater(() => this.#write(finalized, finalBlocks));
  }

  /** Writes after everything that was to be written before. A failure is logged. */
  writeLater(write: () => Promise<void>): void {
    this.#writing = this.#writing
      .then(write)
      .catch((error: unknown) => this.#parts.logger.warn("Storing the execution state failed", { error }));
  }

  /** Resolves once everything is written. */
  flush(): Promise<void> {
    return this.#writing;
  }

  /** Returns a function that reverts to what is finalized now. The database is reverted separately. */
  capture(): () => void {
    const [finalized, baseNumber] = [this.#finalized, this.#baseNumber];
    const restoreJournal = this.#journal?.capture();
    return () => {
      this.#finalized = finalized;
      this.#baseNumber = baseNumber;
      restoreJournal?.();
    };
  }

  /** Returns a function that decodes the stored state if it is that of a block. */
  async openBase(): Promise<(blockHash: RootHex) => ExecutedBlock | undefined> {
    const { rules, blocks, logger } = this.#parts;
    const unreadable = (error: unknown) =>
      logger.warn("Stored execution state unreadable, executing all payloads again", { error });
    const bytes = await this.#store?.readBase();
    let hash: RootHex | undefined;
    try {
      hash = bytes ? hashOfBase(bytes) : undefined;
    } catch (error) {
      unreadable(error);
    }
    return (blockHash) => {
      if (blockHash !== hash) return undefined;
      try {
        const block = decodeBase(bytes!, rules);
        this.#baseNumber = block.header.number;
        blocks.add(block);
        return block;
      } catch (error) {
        unreadable(error);
        return undefined;
      }
    };
  }

  async #write(finalized: ExecutedBlock, finalBlocks: readonly ExecutedBlock[]): Promise<void> {
    const { number } = finalized.header;
    // The chain may have been reverted meanwhile.
    if (number > this.#finalized.header.number) return;
    await this.#archive?.append(finalBlocks);
    await this.#journal?.prune(this.#transactionsAfter(number));
    if (this.#store === undefined || number < this.#baseNumber + this.#blocksBetweenBases) return;
    await this.#store.writeBase(encodeBase(finalized));
    this.#baseNumber = number;
  }

  /** Hashes of the transactions of later blocks, on all branches. */
  #transactionsAfter(number: bigint): Set<RootHex> {
    const hashes = new Set<RootHex>();
    for (const { header, transactions } of this.#parts.blocks.all()) {
      if (header.number > number) for (const { hash } of transactions) hashes.add(toHex(hash));
    }
    return hashes;
  }
}
