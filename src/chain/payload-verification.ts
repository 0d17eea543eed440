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
}

/**
 * Whether the execution payload of a block is known to be valid; all who want to know it ask here. A valid payload makes those
 * of all ancestors valid, so that of the finalized chain, which fork choice has let go of, one slot tells it all. The block
 * that a node was started from is trusted, and what it descends from is valid with it.
 */
export class PayloadVerification {
  readonly #config: BeaconConfig;
  readonly #forkChoice: ForkChoice;
  #unverifiedFrom: Slot | null;

  constructor({ config, forkChoice, unverifiedFrom }: PayloadVerificationParts) {
    this.#config = config;
    this.#forkChoice = forkChoice;
    this.#unverifiedFrom = unverifiedFrom;
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
    // Of a block that finality left behind it is not known any more.
    if (!isFinalized) return this.#config.getForkSeq(slot) >= ForkSeq.bellatrix;
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

  /** To be told when that is in the database. */
  noteArchived(unverifiedFrom: Slot | null): void {
    this.#unverifiedFrom = unverifiedFrom;
    this.#forkChoice.revision.raise();
  }
}

export function isUnverified({ execution }: ForkChoiceBlock): boolean {
  return execution.status === "optimistic" || execution.status === "invalid";
}
