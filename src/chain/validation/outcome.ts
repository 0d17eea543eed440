/** What the network does with a refused message: drop it silently, or drop it and hold it against its sender. */
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
 * Where an operation comes from. Gossip ignores one that another makes needless before anything of it is verified; a client is
 * told what is wrong with it first, and only an operation in order counts as known.
 */
export type Origin = "gossip" | "client";

/** Why an object does not pass the gossip rules of its topic (consensus specification, p2p-interface.md). */
export class GossipRefusal extends Error {
  readonly action: RefusalAction;
  readonly reason: RefusalReason;
  /** Whether nothing is wrong but that the same object was seen before: a submission of such an object succeeds. */
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

/** The result of one item of a list that is validated together. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; refusal: GossipRefusal };

/** Runs the rules of one item; a refusal concerns that item only, any other error is a defect and passes through. */
export async function outcomeOf<T>(rules: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await rules() };
  } catch (error) {
    if (error instanceof GossipRefusal) return { ok: false, refusal: error };
    throw error;
  }
}
