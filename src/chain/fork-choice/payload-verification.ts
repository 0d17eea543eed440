import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { ForkChoice } from "./fork-choice.ts";
import type { ForkChoiceBlock } from "./types.ts";

interface PayloadVerificationParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  /** Result of `oldestUnverified` when finality was last archived. */
  unverifiedFrom: Slot | null;
  /** Orphaned blocks whose payloads were found valid. */
  orphaned: Iterable<RootHex>;
}

/**
 * Tracks which execution payloads are known to be valid. A valid payload implies valid ancestors, so a single slot
 * describes the finalized chain after pruning. Valid orphaned blocks are recorded individually. The anchor and its
 * ancestors are trusted.
 */
export class PayloadVerification {
  readonly #config: BeaconConfig;
  readonly #forkChoice: ForkChoice;
  #unverifiedFrom: Slot | null;
  readonly #orphaned: Set<RootHex>;

  constructor({ config, forkChoice, unverifiedFrom, orphaned }: PayloadVerificationParts) {
    this.#config = config;
    this.#forkChoice = forkChoice;
    this.#unverifiedFrom = unverifiedFrom;
    this.#orphaned = new Set(orphaned);
  }

  capture(): Slot | null {
    return this.#unverifiedFrom;
  }

  restore(unverifiedFrom: Slot | null): void {
    this.#unverifiedFrom = unverifiedFrom;
    this.#forkChoice.revision.raise();
  }

  /** True unless the block's payload is known to be valid. */
  isOptimistic({ root, slot }: { root: RootHex; slot: Slot }, { isFinalized = false } = {}): boolean {
    const block = this.#forkChoice.get(root);
    if (block) return isUnverified(block);
    if (!isFinalized) return this.#config.getForkSeq(slot) >= ForkSeq.bellatrix && !this.#orphaned.has(root);
    const newest = this.#forkChoice.get(this.#forkChoice.finalized.root);
    return (
      this.#unverifiedFrom !== null && slot >= this.#unverifiedFrom && newest !== undefined && isUnverified(newest)
    );
  }

  /**
   * Returns the slot of the oldest block on the given block's chain whose payload is not known to be valid; null if
   * there is none.
   */
  oldestUnverified(root: RootHex): Slot | null {
    let oldest: Slot | null = null;
    for (const block of this.#forkChoice.ancestors(root)) {
      if (!isUnverified(block)) return oldest;
      oldest = block.slot;
    }
    // Older blocks have been pruned.
    return this.#unverifiedFrom ?? oldest;
  }

  /** Returns true if the payload is known to be valid. This status is archived for orphaned blocks. */
  isVerified(root: RootHex): boolean {
    const block = this.#forkChoice.get(root);
    return block !== undefined && !isUnverified(block);
  }

  /** Updates the verification status after writing it to the database. */
  onArchived(unverifiedFrom: Slot | null, orphaned: readonly RootHex[]): void {
    this.#unverifiedFrom = unverifiedFrom;
    for (const root of orphaned) this.#orphaned.add(root);
    this.#forkChoice.revision.raise();
  }
}

export function isUnverified({ execution }: ForkChoiceBlock): boolean {
  return execution.status === "optimistic" || execution.status === "invalid";
}
