/** Gossip validation results: ignore the message, or also penalize its sender. */
type RefusalAction = "ignore" | "reject";

export type RefusalReason =
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
  // Data of blocks
  | "blob-index-out-of-range"
  | "malformed-column"
  | "bad-inclusion-proof"
  | "bad-kzg-proof"
  // Committees and attestations
  | "target-epoch-mismatch"
  | "data-index-not-zero"
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

/** An object violates a gossip rule of its topic (p2p-interface.md). */
export class GossipRefusal extends Error {
  readonly action: RefusalAction;
  readonly reason: RefusalReason;
  /** True if the only problem is that the object is already known. Submitting it succeeds. */
  readonly known: boolean;

  constructor(
    action: RefusalAction,
    reason: RefusalReason,
    message: string,
    { known = false, cause }: { known?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "GossipRefusal";
    this.action = action;
    this.reason = reason;
    this.known = known;
  }
}

export const ignore = (reason: RefusalReason, message: string) => new GossipRefusal("ignore", reason, message);
export const reject = (reason: RefusalReason, message: string) => new GossipRefusal("reject", reason, message);
export const alreadyKnown = (message: string) => new GossipRefusal("ignore", "already-known", message, { known: true });

/** Result of one item in a batch. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; refusal: GossipRefusal };

/** Runs the rules of one item. Converts a refusal to an outcome; rethrows other errors. */
export async function outcomeOf<T>(rules: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await rules() };
  } catch (error) {
    if (error instanceof GossipRefusal) return { ok: false, refusal: error };
    throw error;
  }
}
