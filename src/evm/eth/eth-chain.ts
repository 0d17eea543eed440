import type { ReceiptedBlock } from "../engine/storage/block-archive.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import type { BlockId, ChainTags, NumberedBlock } from "./block-id.ts";
import { CanonicalIndex, type HeadChange } from "./canonical-index.ts";
import type { EthEngine } from "./eth-engine.ts";
import { EthError } from "./eth-error.ts";
import { ExecutionNeededError } from "./execution-needed.ts";
import type { TransactionInclusion } from "./json/transaction-json.ts";
import { OldStates } from "./old-states.ts";
import { PendingBlock } from "./pending-block.ts";

/** Number of archived ancestors read at once. */
const READ_AT_ONCE = 128;

/** Range of block numbers, inclusive at both ends. */
export interface NumberRange {
  from: number;
  to: number;
}

/** A transaction's position in a block with receipts. */
export interface IncludedTransaction extends TransactionInclusion {
  block: ReceiptedBlock;
}

/** Looks up blocks by tag, number or hash. Consensus sets the tags, which determine the canonical chain. */
export class EthChain<Engine extends EthEngine = EthEngine> {
  readonly engine: Engine;
  readonly #index: CanonicalIndex;
  /** Absent if blocks are not executed here. */
  readonly #execution: { oldStates: OldStates; pending: PendingBlock } | undefined;
  readonly #listeners = new Set<(change: HeadChange) => void>();
  #tags: ChainTags;

  /** If `executesBlocks` is false, methods that need execution throw an `ExecutionNeededError`. */
  constructor(engine: Engine, { executesBlocks = true } = {}) {
    this.engine = engine;
    const genesis = toHex(engine.blocks.genesis.hash);
    this.#tags = { latest: genesis, safe: genesis, finalized: genesis };
    this.#index = new CanonicalIndex(engine.blocks);
    if (executesBlocks) this.#execution = { oldStates: new OldStates(engine), pending: new PendingBlock(engine) };
  }

  get tags(): ChainTags {
    return this.#tags;
  }

  /** Returns false and calls no listeners if the latest block is not in memory. */
  setTags(tags: ChainTags): boolean {
    const { latest, finalized, nextTimestamp } = this.#tags;
    this.#tags = tags;
    if (tags.nextTimestamp !== nextTimestamp) this.engine.setNextSlot(tags.nextTimestamp);
    const head = this.engine.blocks.get(tags.latest);
    if (head !== undefined && (tags.latest !== latest || this.#index.hashAt(head.header.number) !== tags.latest)) {
      const change = this.#index.follow(head);
      for (const listener of this.#listeners) listener(change);
    }
    if (tags.finalized !== finalized) this.#index.prune();
    return head !== undefined;
  }

  /** Calls the listener when the latest block changes. Returns a function that unsubscribes. */
  onHead(listener: (change: HeadChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get latest(): ExecutedBlock {
    const block = this.engine.blocks.get(this.#tags.latest);
    if (block === undefined) throw new EthError("header not found");
    return block;
  }

  /** Returns a block; undefined if there is none. */
  async find(id: BlockId): Promise<ReceiptedBlock | undefined> {
    if ("tag" in id && id.tag === "pending") return this.pending();
    if ("hash" in id) return this.#findByHash(id);
    return this.#findByNumber(this.numberOf(id));
  }

  /**
   * Returns a block with its state. The state of the latest block includes pending overrides, unless the block is
   * requested by hash. Throws an `EthError` if there is no such block.
   */
  async withState(id: BlockId): Promise<ExecutedBlock> {
    if ("tag" in id && id.tag === "pending") return this.pending();
    // Most reads are of the latest block.
    if ("tag" in id && id.tag === "latest") return this.engine.overridden(this.latest);
    const found = await this.find(id);
    if (found === undefined) throw new EthError("hash" in id ? "header for hash not found" : "header not found");
    const state = this.engine.blocks.get(toHex(found.hash)) ?? (await this.#executing.oldStates.find(found));
    if (state === undefined) {
      const { number } = found.header;
      throw new EthError(`state of block ${number} is not available: states are held from block ${this.#oldest} on`);
    }
    const isLatest = !("hash" in id) && toHex(state.hash) === this.#tags.latest;
    return isLatest ? this.engine.overridden(state) : state;
  }

  /**
   * Returns a block with the state seen by calls on that block. For the pending block, this is the state on which its
   * next transaction would run.
   */
  async withCallState(id: BlockId): Promise<ExecutedBlock> {
    const block = await this.withState(id);
    return "tag" in id && id.tag === "pending" ? { ...block, world: block.openWorld } : block;
  }

  /** Returns the number of the oldest block with its state in memory. All blocks after it are in memory as well. */
  get #oldest(): bigint {
    const { number } = this.engine.blocks.branchAbove(0n, this.latest)[0]?.header ?? { number: 0n };
    return number;
  }

  /** Returns the number of a canonical block; for `pending`, the number of the next block. */
  numberOf(id: NumberedBlock): bigint {
    if ("number" in id) return id.number;
    if (id.tag === "earliest") return 0n;
    if (id.tag === "pending") return this.latest.header.number + 1n;
    // Before the first justification, genesis is the safe and the finalized block.
    return this.engine.blocks.get(this.#tags[id.tag])?.header.number ?? 0n;
  }

  /** Yields a block and its ancestors, at most `count` blocks in total. */
  async *ancestry(block: ReceiptedBlock, count: number): AsyncGenerator<ReceiptedBlock> {
    const { blocks, archive } = this.engine;
    let archived: (() => ReceiptedBlock)[] = [];
    let next: ReceiptedBlock | undefined = block;
    for (let left = count; next !== undefined && left > 0; ) {
      yield next;
      left--;
      const number = Number(next.header.number);
      const parentHash = toHex(next.header.parentHash);
      next = blocks.get(parentHash);
      if (next !== undefined || left === 0 || number === 0) continue;
      if (archived.length === 0) {
        const oldest = Math.max(1, number - Math.min(left, READ_AT_ONCE));
        archived = (await archive?.openRange(oldest, number - 1)) ?? [];
      }
      const parent = archived.pop()?.();
      if (parent !== undefined && toHex(parent.hash) === parentHash) next = parent;
    }
  }

  /**
   * Walks a range of canonical blocks in ascending order. Yields the blocks in memory one by one, and all other blocks
   * as ranges.
   */
  *inRange(from: bigint, to: bigint): Generator<ExecutedBlock | NumberRange> {
    const recent = this.#index.oldestRecent;
    for (let number = from; number <= to; ) {
      const block = this.#inMemory(number);
      if (block !== undefined) {
        yield block;
        number++;
        continue;
      }
      let last = number;
      if (last < recent - 1n) last = recent - 1n;
      while (last < to && this.#inMemory(last + 1n) === undefined) last++;
      yield { from: Number(number), to: Number(last < to ? last : to) };
      number = last + 1n;
    }
  }

  /** Returns true if a block is canonical and in memory, or the parent of such a block. */
  isRecent(number: bigint, hash: string): boolean {
    const block = this.#inMemory(number);
    if (block !== undefined) return toHex(block.hash) === hash;
    const child = this.#inMemory(number + 1n);
    return child !== undefined && toHex(child.header.parentHash) === hash;
  }

  /** Returns the position of a transaction in the canonical chain. */
  async findTransaction(hash: string): Promise<IncludedTransaction | undefined> {
    const number = this.#index.numberOfTransaction(hash);
    const block = await (number === undefined
      ? this.engine.archive?.withTransaction(hash)
      : this.#findByNumber(number));
    const index = block?.transactions.findIndex((transaction) => toHex(transaction.hash) === hash) ?? -1;
    return block === undefined || index < 0 ? undefined : { block, index };
  }

  /** Returns the timestamp of the next block. */
  get nextTimestamp(): number {
    return this.engine.nextTimestamp(this.latest);
  }

  /** Returns the block that would be built from the pool in the next slot. */
  async pending(): Promise<ExecutedBlock> {
    return this.#executing.pending.on(this.latest);
  }

  get #executing() {
    if (this.#execution === undefined) throw new ExecutionNeededError();
    return this.#execution;
  }

  async #findByNumber(number: bigint): Promise<ReceiptedBlock | undefined> {
    return this.#inMemory(number) ?? (number < this.#index.latest ? this.engine.archive?.byNumber(number) : undefined);
  }

  /** Returns the canonical block with that number if it is in memory. */
  #inMemory(number: bigint): ExecutedBlock | undefined {
    const hash = this.#index.hashAt(number);
    return hash === undefined ? undefined : this.engine.blocks.get(hash);
  }

  async #findByHash({
    hash,
    requireCanonical,
  }: Extract<BlockId, { hash: string }>): Promise<ReceiptedBlock | undefined> {
    const block = this.engine.blocks.get(hash);
    // Archived blocks are final.
    if (block === undefined) return this.engine.archive?.byHash(hash);
    if (!requireCanonical) return block;
    if (this.#index.hashAt(block.header.number) !== hash) throw new EthError("hash is not currently canonical");
    return block;
  }
}
