import type { RejectionReason } from "../chain/import/block-rejection.ts";

/**
 * Refusals that tell about us or about the moment, not about the block or whoever gave it. What a peer gives is compared
 * with what is final before it is imported, so a conflict with that means that finality moved on meanwhile.
 */
export const INNOCENT_REFUSALS: ReadonlySet<RejectionReason> = new Set([
  "future-slot",
  "unknown-parent",
  "before-history",
  "finalized-slot",
  "not-descendant-of-finalized",
  "data-unavailable",
]);
