import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { ForkChoice } from "../fork-choice.ts";
import type { ForkChoiceBlock, ForkChoiceNode } from "../types.ts";

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

  /** True unless all payloads on the block's chain are known to be valid. Since gloas, its own is not one of them. */
  isOptimistic({ root, slot }: { root: RootHex; slot: Slot }, { isFinalized = false } = {}): boolean {
    if (this.#forkChoice.has(root)) return this.isNodeOptimistic({ root, payloadStatus: "pending" });
    if (!isFinalized) return this.#config.getForkSeq(slot) >= ForkSeq.bellatrix && !this.#orphaned.has(root);
    const newest = { root: this.#forkChoice.finalized.root, payloadStatus: "pending" } as const;
    return this.#unverifiedFrom !== null && slot >= this.#unverifiedFrom && this.#isUnverifiedIn(newest);
  }

  /** True unless all payloads on the node's chain are known to be valid, including its own if it is full. */
  isNodeOptimistic(node: ForkChoiceNode): boolean {
    return this.#isUnverifiedIn(node);
  }

  /**
   * Returns the slot of the oldest block with a payload on the given block's chain that is not known to be valid; null
   * if there is none.
   */
  oldestUnverified(root: RootHex): Slot | null {
    let oldest: Slot | null = null;
    const newest = this.#forkChoice.payloadBlock({ root, payloadStatus: "pending" });
    for (const block of newest ? this.#forkChoice.payloadChain(newest.root) : []) {
      if (!isUnverified(block)) return oldest;
      oldest = block.slot;
    }
    // Older blocks have been pruned.
    return this.#unverifiedFrom ?? oldest;
  }

  /** True if all payloads on the block's chain are known to be valid. This status is archived for orphaned blocks. */
  isVerified(root: RootHex): boolean {
    return this.#forkChoice.has(root) && !this.#isUnverifiedIn({ root, payloadStatus: "pending" });
  }

  /** Updates the verification status after writing it to the database. */
  onArchived(unverifiedFrom: Slot | null, orphaned: readonly RootHex[]): void {
    this.#unverifiedFrom = unverifiedFrom;
    for (const root of orphaned) this.#orphaned.add(root);
    this.#forkChoice.revision.raise();
  }

  #isUnverifiedIn(node: ForkChoiceNode): boolean {
    const newest = this.#forkChoice.payloadBlock(node);
    // Payloads before the tree are those of the finalized chain.
    return newest === undefined ? this.#unverifiedFrom !== null : isUnverified(newest);
  }
}

export function isUnverified({ execution }: ForkChoiceBlock): boolean {
  return execution.status === "optimistic" || execution.status === "invalid";
}
