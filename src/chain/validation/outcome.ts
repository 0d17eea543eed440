/** Gossip validation results: ignore the message, or also penalize its sender. */
type GossipAction = "ignore" | "reject";

export type GossipErrorReason =
  // Time and forks
  | "future-slot"
  | "future-epoch"
  | "past-slot"
  | "finalized-slot"
  | "wrong-fork"
  // Seen before
  | "already-known"
  | "conflicting-vote"
  | "conflicting-block"
  | "conflicting-change"
  // Blocks and ancestry
  | "unknown-parent"
  | "invalid-parent"
  | "slot-not-after-parent"
  | "unknown-block"
  | "block-after-vote"
  | "block-too-old"
  | "invalid-block"
  | "unknown-target"
  | "wrong-target"
  | "not-descended-from-finalized"
  | "state-unavailable"
  | "wrong-proposer"
  | "wrong-payload-timestamp"
  | "too-many-blobs"
  | "too-many-operations"
  | "unknown-parent-payload"
  // Payloads and bids
  | "wrong-slot"
  | "wrong-bid"
  | "wrong-builder"
  | "wrong-payload"
  | "invalid-payload"
  | "optimistic-payload"
  | "bid-too-low"
  | "builder-cannot-pay"
  | "unknown-preferences"
  | "wrong-fee-recipient"
  | "wrong-gas-limit"
  | "not-on-head"
  | "wrong-dependent-root"
  // Block data
  | "blob-index-out-of-range"
  | "malformed-column"
  | "bad-inclusion-proof"
  | "bad-kzg-proof"
  // Committees and attestations
  | "target-epoch-mismatch"
  | "data-index-not-zero"
  | "wrong-payload-vote"
  | "unknown-payload"
  | "committee-index-out-of-range"
  | "not-one-committee"
  | "not-one-vote"
  | "no-participants"
  | "wrong-bits-length"
  | "not-in-committee"
  | "wrong-subnet"
  | "not-selected-as-aggregator"
  | "subcommittee-index-out-of-range"
  // Validators and operations
  | "unknown-validator"
  | "not-active"
  | "already-exiting"
  | "too-young"
  | "pending-withdrawals"
  | "not-slashable"
  | "headers-do-not-conflict"
  | "votes-do-not-conflict"
  | "no-common-index"
  | "invalid-indices"
  | "no-bls-credentials"
  | "wrong-withdrawal-key"
  // Signatures
  | "bad-signature"
  | "bad-selection-proof"
  | "bad-aggregator-signature";

/**
 * Source of an operation. Gossip ignores duplicates before any verification; API clients get validation errors first.
 */
export type Origin = "gossip" | "client";

/** Thrown if an object violates a gossip rule of its topic (p2p-interface.md). */
export class GossipValidationError extends Error {
  readonly action: GossipAction;
  readonly reason: GossipErrorReason;
  /** True if the only problem is that the object is already known, in which case its submission succeeds. */
  readonly known: boolean;

  constructor(
    action: GossipAction,
    reason: GossipErrorReason,
    message: string,
    { known = false, cause }: { known?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "GossipValidationError";
    this.action = action;
    this.reason = reason;
    this.known = known;
  }
}

export const ignore = (reason: GossipErrorReason, message: string) =>
  new GossipValidationError("ignore", reason, message);
export const reject = (reason: GossipErrorReason, message: string) =>
  new GossipValidationError("reject", reason, message);
export const alreadyKnown = (message: string) =>
  new GossipValidationError("ignore", "already-known", message, { known: true });

/** Result for one item in a batch. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; refusal: GossipValidationError };

/** Runs the rules for one item. Converts a `GossipValidationError` to an outcome and rethrows other errors. */
export async function outcomeOf<T>(rules: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await rules() };
  } catch (error) {
    if (error instanceof GossipValidationError) return { ok: false, refusal: error };
    throw error;
  }
}
