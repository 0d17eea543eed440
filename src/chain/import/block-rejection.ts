import type { RootHex, Slot } from "@lodestar/types";

export type RejectionReason =
  | "future-slot"
  | "finalized-slot"
  | "unknown-parent"
  | "not-connected"
  | "invalid-parent"
  | "before-history"
  | "not-later-than-parent"
  | "not-descendant-of-finalized"
  | "wrong-proposer"
  | "invalid-signature"
  | "wrong-state-root"
  | "invalid-transition"
  | "invalid-payload"
  | "data-unavailable";

/** Why a block was not imported. The chain is as it was before. */
export class BlockRejection extends Error {
  readonly reason: RejectionReason;
  /** The block at fault: with a run of blocks it need not be the first. */
  slot?: Slot;
  root?: RootHex;

  constructor(reason: RejectionReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "BlockRejection";
    this.reason = reason;
  }
}

/** Notes the block at fault in an error, if it is a rejection that does not name one yet. */
export function blaming<E>(error: E, block: { slot: Slot; root: RootHex }): E {
  if (error instanceof BlockRejection) {
    error.slot ??= block.slot;
    error.root ??= block.root;
  }
  return error;
}
