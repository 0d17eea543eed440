import { type PayloadBlobs, PayloadUnavailableError } from "../../execution/engine.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import type { BlockAttributes, BlockExecutor, FaultListener } from "../execution/block-executor.ts";
import { blobBaseFee } from "../execution/fees.ts";
import { ContractFaultError } from "../execution/invalid-block.ts";
import type { Transaction } from "../execution/transaction.ts";
import type { ChainOverrides } from "../overrides/chain-overrides.ts";
import { isImpersonated } from "../overrides/impersonation.ts";
import { headerChange, type Override, overrideState } from "../overrides/override.ts";
import type { TransactionPool } from "../pool/transaction-pool.ts";
import { type EngineHead, withGasLimit } from "./engine-head.ts";
import { type ExecutedBlocks, transactionsLost } from "./executed-blocks.ts";
import { type BuildBlock, fillBlock } from "./fill-block.ts";
import { requireRequestsFit } from "./request-limits.ts";

interface BlockBuilderParts {
  executor: BlockExecutor;
  blocks: ExecutedBlocks;
  pool: TransactionPool;
  overrides: ChainOverrides;
  head: EngineHead;
}

/** Inputs for building a block on top of a parent. */
export interface BlockPlan {
  attributes: BlockAttributes;
  /** Applied before the transactions. */
  overrides: readonly Override[];
  /** In order of inclusion; may contain more than fits into the block. */
  candidates: Iterable<Transaction>;
}

interface BuildOptions {
  /** Called for transactions that cannot be included in any block. */
  onFault?: FaultListener;
  /** Time in milliseconds after which no transaction except the first one is started. */
  fillingMs?: number | undefined;
}

const EXTRA_DATA = new TextEncoder().encode("fanal");

/** Builds blocks from the pool and the pending overrides. Stores nothing. */
export class BlockBuilder {
  readonly #parts: BlockBuilderParts;

  constructor(parts: BlockBuilderParts) {
    this.#parts = parts;
  }

  /** Throws a `PayloadUnavailableError` if a system contract would make any block invalid. */
  build(parent: ExecutedBlock, attributes: BlockAttributes, options?: BuildOptions): Promise<ExecutedBlock> {
    return buildPlanned(this.#parts.executor, parent, this.plan(parent, attributes), options);
  }

  /** Returns the plan for the next block. The plan's candidates must be read before the pool changes. */
  plan(parent: ExecutedBlock, attributes: BlockAttributes): BlockPlan {
    const { executor, blocks, head } = this.#parts;
    const { rules } = executor;
    const divergence = blocks.divergence(head.block, parent);
    const overrides = this.#parts.overrides.pendingOn(divergence);
    const changed = { ...attributes, ...headerChange(overrides), extraData: EXTRA_DATA };
    const { baseFeePerGas, gasLimit, excessBlobGas = 0n } = executor.environmentOf(parent, changed);
    const { blobs } = rules.at(attributes.timestamp);
    const blobFee = blobs === undefined ? 0n : blobBaseFee(excessBlobGas, blobs);
    const state = overrideState(parent, overrides, rules.crypto.keccak);
    // On a different branch, transactions already included on the head's branch become candidates again.
    const pool =
      parent === head.block
        ? this.#parts.pool
        : this.#parts.pool.copyFor(withGasLimit(state, gasLimit), attributes.timestamp, transactionsLost(divergence));
    return { attributes: changed, overrides, candidates: this.#candidates(pool, baseFeePerGas, blobFee) };
  }

  /** Returns the blobs of a block built here. */
  blobsOf({ transactions }: ExecutedBlock): PayloadBlobs {
    const { pool } = this.#parts;
    const sidecars = transactions.filter(({ tx }) => tx.type === 3).map(({ hash }) => pool.sidecarOf(hash)!);
    return {
      blobs: sidecars.flatMap(({ blobs }) => blobs),
      commitments: sidecars.flatMap(({ commitments }) => commitments),
      proofs: sidecars.flatMap(({ proofs }) => proofs),
    };
  }

  /** Skips blob transactions whose blobs have been evicted. */
  *#candidates(pool: TransactionPool, baseFee: bigint, blobFee: bigint): Generator<Transaction> {
    for (const transaction of pool.pending(baseFee, blobFee)) {
      const isComplete = transaction.tx.type !== 3 || this.#parts.pool.sidecarOf(transaction.hash) !== undefined;
      if (isComplete) yield transaction;
    }
  }
}

/**
 * Builds a block on top of its parent, leaving out transactions that would make it invalid. Stores nothing. Throws a
 * `PayloadUnavailableError` if a system contract would make any block invalid.
 */
export async function buildPlanned(
  executor: BlockExecutor,
  parent: ExecutedBlock,
  { attributes, overrides, candidates }: BlockPlan,
  { onFault, fillingMs = Number.POSITIVE_INFINITY }: BuildOptions = {},
): Promise<ExecutedBlock> {
  const endsAt = performance.now() + fillingMs;
  const state = overrideState(parent, overrides, executor.rules.crypto.keccak);
  const { depositContract } = executor.rules.at(attributes.timestamp);
  const build: BuildBlock = async (some, listener) => {
    const built = await executor.build(state, attributes, takeUntil(endsAt, some), listener);
    requireRequestsFit(built, depositContract);
    return built;
  };
  const block = await fillBlock(build, candidates, onFault).catch((error) => {
    throw error instanceof ContractFaultError ? unavailable(error) : error;
  });
  const isRecorded = overrides.length > 0 || block.transactions.some(({ tx }) => isImpersonated(tx));
  return isRecorded ? { ...block, overrides } : block;
}

/** Yields the first value, then more values until the time `endsAt`. */
function* takeUntil<T>(endsAt: number, values: Iterable<T>): Generator<T> {
  for (const value of values) {
    yield value;
    if (performance.now() >= endsAt) return;
  }
}

function unavailable({ fault }: ContractFaultError): PayloadUnavailableError {
  return new PayloadUnavailableError(
    `No block can be built: ${fault}. Restore its code with anvil_setCode, or revert to a snapshot with evm_revert.`,
  );
}
