import type { Block, ExecutedBlock } from "../execution/block.ts";
import { nextBaseFee } from "../execution/fees.ts";
import type { ChainRules } from "../execution/rules.ts";
import type { Transaction } from "../execution/transaction.ts";
import type { ChainOverrides } from "../overrides/chain-overrides.ts";
import { headerChange, type Override, overrideState } from "../overrides/override.ts";
import type { TransactionPool } from "../pool/transaction-pool.ts";
import { type ExecutedBlocks, transactionsLost } from "./executed-blocks.ts";

interface EngineHeadParts {
  rules: ChainRules;
  blocks: ExecutedBlocks;
  pool: TransactionPool;
  overrides: ChainOverrides;
  secondsPerSlot: number;
}

/** Head block of the transaction pool, together with the pending overrides. */
export class EngineHead {
  readonly #parts: EngineHeadParts;
  #block: ExecutedBlock;
  /** The head block with the pending overrides applied. */
  #overridden: ExecutedBlock;
  /** Start of the next slot in Unix seconds. Slots since the head block may be empty. */
  nextSlotTime = 0;

  constructor(parts: EngineHeadParts) {
    this.#parts = parts;
    this.#block = parts.blocks.genesis;
    this.#overridden = parts.blocks.genesis;
  }

  get block(): ExecutedBlock {
    return this.#block;
  }

  /**
   * Sets the head block and puts transactions from reorged blocks back into the pool. Returns true if the pending
   * overrides change.
   */
  follow(block: ExecutedBlock, nextTimestamp?: number): boolean {
    const { blocks, overrides } = this.#parts;
    const divergence = blocks.divergence(this.#block, block);
    const isChanged = overrides.follow(divergence);
    this.moveTo(block, nextTimestamp, transactionsLost(divergence));
    return isChanged;
  }

  moveTo(block: ExecutedBlock, nextTimestamp = this.nextTimestamp(block), returned: readonly Transaction[] = []): void {
    const { rules, pool, overrides } = this.#parts;
    const { pending } = overrides;
    this.#block = block;
    this.#overridden = overrideState(block, pending, rules.crypto.keccak);
    const { gasLimit = block.header.gasLimit } = headerChange(pending);
    pool.setHead(withGasLimit(this.#overridden, gasLimit), nextTimestamp, returned);
  }

  /** Returns a block's state with the overrides that its child would apply. */
  overridden(block: ExecutedBlock): ExecutedBlock {
    if (block === this.#block) return this.#overridden;
    return overrideState(block, this.overridesOn(block), this.#parts.rules.crypto.keccak);
  }

  /** Returns the overrides that a child of the block would apply. */
  overridesOn(block: ExecutedBlock): readonly Override[] {
    const { blocks, overrides } = this.#parts;
    return block === this.#block ? overrides.pending : overrides.pendingOn(blocks.divergence(this.#block, block));
  }

  /** Returns the base fee of a child of the block. */
  nextBaseFee({ header }: Pick<Block, "header">): bigint {
    const change = header === this.#block.header ? headerChange(this.#parts.overrides.pending) : {};
    return change.baseFeePerGas ?? nextBaseFee(header);
  }

  /** Returns the timestamp of a child of the block. */
  nextTimestamp({ header }: Pick<Block, "header">): number {
    return Math.max(Number(header.timestamp) + this.#parts.secondsPerSlot, this.nextSlotTime);
  }

  /** Sets the start of the next slot. The pool applies the rules of that slot's fork. */
  setNextSlot(timestamp: number): void {
    const { rules } = this.#parts;
    const before = rules.at(this.nextTimestamp(this.#block));
    this.nextSlotTime = timestamp;
    if (rules.at(this.nextTimestamp(this.#block)) !== before) this.moveTo(this.#block);
  }
}

export function withGasLimit(block: ExecutedBlock, gasLimit: bigint): ExecutedBlock {
  if (block.header.gasLimit === gasLimit) return block;
  return { ...block, header: { ...block.header, gasLimit } };
}
