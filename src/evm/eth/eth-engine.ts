import type { BlockPlan } from "../engine/block-builder.ts";
import type { PendingPlan } from "../engine/evm-engine.ts";
import type { ExecutedBlocks } from "../engine/executed-blocks.ts";
import type { BlockArchive } from "../engine/storage/block-archive.ts";
import type { Block, ExecutedBlock } from "../execution/block.ts";
import type { BlockExecutor } from "../execution/block-executor.ts";
import type { ChainRules } from "../execution/rules.ts";

/** The part of an engine that reads use. A replica in another thread implements it too. */
export interface EthEngine {
  readonly rules: ChainRules;
  readonly executor: BlockExecutor;
  readonly blocks: ExecutedBlocks;
  /** Finalized blocks. Undefined until the engine is connected. */
  readonly archive: BlockArchive | undefined;
  readonly secondsPerSlot: number;
  /** Base fee of a child of the given block. */
  nextBaseFee(block: Pick<Block, "header">): bigint;
  /** Timestamp of the next block on a block. */
  nextTimestamp(block: Pick<Block, "header">): number;
  /** Sets the start of the next slot in Unix seconds. By default, it is the slot after the head. */
  setNextSlot(timestamp?: number): void;
  /** Returns a block with the overrides that its child would apply. */
  overridden(block: ExecutedBlock): ExecutedBlock;
  /** Returns the plan of the next block, unless its key is the given one. */
  pendingPlan(parent: ExecutedBlock, known?: string): Promise<PendingPlan>;
  /** Builds a block from a plan, without storing it. */
  buildPlanned(parent: ExecutedBlock, plan: BlockPlan): Promise<ExecutedBlock>;
  /** Executes a known block again. */
  execute(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock>;
  /** Returns the state before the transactions of a block. */
  stateBefore(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock>;
  /** Returns a function that decodes the stored state if it belongs to the given block. */
  openBase(): Promise<(blockHash: string) => ExecutedBlock | undefined>;
}
