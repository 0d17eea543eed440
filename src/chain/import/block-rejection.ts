export type RejectionReason =
  | "future-slot"
  | "finalized-slot"
  | "unknown-parent"
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

  constructor(reason: RejectionReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "BlockRejection";
    this.reason = reason;
  }
}
