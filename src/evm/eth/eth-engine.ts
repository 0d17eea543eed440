import type { BlockPlan } from "../engine/block-builder.ts";
import type { PendingPlan } from "../engine/evm-engine.ts";
import type { ExecutedBlocks } from "../engine/executed-blocks.ts";
import type { BlockArchive } from "../engine/storage/block-archive.ts";
import type { Block, ExecutedBlock } from "../execution/block.ts";
import type { BlockExecutor } from "../execution/block-executor.ts";
import type { ChainRules } from "../execution/rules.ts";

/** The part of an engine needed for reading. Also implemented by replicas in other threads. */
export interface EthEngine {
  readonly rules: ChainRules;
  readonly executor: BlockExecutor;
  readonly blocks: ExecutedBlocks;
  /** Finalized blocks. Undefined until the engine is connected. */
  readonly archive: BlockArchive | undefined;
  readonly secondsPerSlot: number;
  /** Returns the base fee of a child of the given block. */
  nextBaseFee(block: Pick<Block, "header">): bigint;
  /** Returns the timestamp of a child of the given block. */
  nextTimestamp(block: Pick<Block, "header">): number;
  /** Sets the start of the next slot in Unix seconds. Defaults to the slot after the head. */
  setNextSlot(timestamp?: number): void;
  /** Returns a block with the overrides that its child would apply. */
  overridden(block: ExecutedBlock): ExecutedBlock;
  /** Returns the plan for the next block. Omits the plan if its key equals `known`. */
  pendingPlan(parent: ExecutedBlock, known?: string): Promise<PendingPlan>;
  /** Builds a block from a plan, without storing it. */
  buildPlanned(parent: ExecutedBlock, plan: BlockPlan): Promise<ExecutedBlock>;
  /** Re-executes a known block. */
  execute(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock>;
  /** Returns the state before a block's transactions. */
  stateBefore(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock>;
  /** Returns a function that decodes the stored state if it belongs to the given block. */
  openBase(): Promise<(blockHash: string) => ExecutedBlock | undefined>;
}
