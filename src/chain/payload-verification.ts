import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";

interface PayloadVerificationParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  /** What `oldestUnverified` told when finality was last archived. */
  unverifiedFrom: Slot | null;
  /** Blocks that finality has left behind, and that were found valid before. */
  abandoned: Iterable<RootHex>;
}

/**
 * Whether the execution payload of a block is known to be valid; all who want to know it ask here. A valid payload makes those
 * of all ancestors valid, so that of the finalized chain, which fork choice has let go of, one slot tells it all. Of the blocks that
 * finality left behind those that were valid are remembered. The block that a node was started from is trusted, and what it
 * descends from is valid with it.
 */
export class PayloadVerification {
  readonly #config: BeaconConfig;
  readonly #forkChoice: ForkChoice;
  #unverifiedFrom: Slot | null;
  readonly #abandoned: Set<RootHex>;

  constructor({ config, forkChoice, unverifiedFrom, abandoned }: PayloadVerificationParts) {
    this.#config = config;
    this.#forkChoice = forkChoice;
    this.#unverifiedFrom = unverifiedFrom;
    this.#abandoned = new Set(abandoned);
  }

  capture(): Slot | null {
    return this.#unverifiedFrom;
  }

  restore(unverifiedFrom: Slot | null): void {
    this.#unverifiedFrom = unverifiedFrom;
    this.#forkChoice.revision.raise();
  }

  /** Whether nobody has found the payload of the block to be valid. */
  isOptimistic({ root, slot }: { root: RootHex; slot: Slot }, { isFinalized = false } = {}): boolean {
    const block = this.#forkChoice.get(root);
    if (block) return isUnverified(block);
    if (!isFinalized) return this.#config.getForkSeq(slot) >= ForkSeq.bellatrix && !this.#abandoned.has(root);
    const newest = this.#forkChoice.get(this.#forkChoice.finalized.root);
    return (
      this.#unverifiedFrom !== null && slot >= this.#unverifiedFrom && newest !== undefined && isUnverified(newest)
    );
  }

  /** The first slot of the chain up to that block whose payload is not known to be valid; null when all are. */
  oldestUnverified(root: RootHex): Slot | null {
    let oldest: Slot | null = null;
    for (const block of this.#forkChoice.ancestors(root)) {
      if (!isUnverified(block)) return oldest;
      oldest = block.slot;
    }
    // Those before have left fork choice already.
    return this.#unverifiedFrom ?? oldest;
  }

  /** Whether that has to be remembered of a block that finality leaves behind. */
  isVerified(root: RootHex): boolean {
    const block = this.#forkChoice.get(root);
    return block !== undefined && !isUnverified(block);
  }

  /** To be told when all of that is in the database. */
  noteArchived(unverifiedFrom: Slot | null, abandoned: readonly RootHex[]): void {
    this.#unverifiedFrom = unverifiedFrom;
    for (const root of abandoned) this.#abandoned.add(root);
    this.#forkChoice.revision.raise();
  }
}

export function isUnverified({ execution }: ForkChoiceBlock): boolean {
  return execution.status === "optimistic" || execution.status === "invalid";
}
