import type { RootHex } from "@lodestar/types";

export interface Checkpoint {
  readonly epoch: number;
  readonly root: RootHex;
}

/**
 * Execution payload status (sync/optimistic.md): "optimistic" is NOT_VALIDATED, "invalid" is INVALIDATED. Since gloas,
 * it is the status of the payload that the block's bid commits to; "absent" until an envelope has been verified.
 */
export type ForkChoiceExecution =
  | { readonly status: "pre-merge" }
  | { readonly status: "absent" }
  | {
      readonly status: "valid" | "optimistic" | "invalid";
      readonly blockHash: RootHex;
      readonly blockNumber: number;
    };

/**
 * gloas/fork-choice.md, PayloadStatus: a block without and with its payload, and a block regardless of its payload.
 * Blocks before gloas are always "full".
 */
export type PayloadStatus = "empty" | "full" | "pending";

/** gloas/fork-choice.md, ForkChoiceNode */
export interface ForkChoiceNode {
  readonly root: RootHex;
  readonly payloadStatus: PayloadStatus;
}

/** Block hashes in an `ExecutionPayloadBid`. */
export interface ForkChoiceBid {
  readonly blockHash: RootHex;
  /** Payload that the block builds on: that of the parent block if the parent is full. */
  readonly parentBlockHash: RootHex;
}

/** Block in fork choice. Immutable: changing the payload status creates a new object. */
export interface ForkChoiceBlock {
  readonly slot: number;
  readonly root: RootHex;
  readonly parentRoot: RootHex;
  /** Omitted for blocks restored from the database. */
  readonly proposerIndex?: number;
  readonly stateRoot: RootHex;
  /** Checkpoint block of the block's epoch; the target of attestations for this block. */
  readonly targetRoot: RootHex;
  readonly justified: Checkpoint;
  readonly finalized: Checkpoint;
  /** Checkpoints that the block's state would have if its epoch ended right after the block. */
  readonly unrealizedJustified: Checkpoint;
  readonly unrealizedFinalized: Checkpoint;
  readonly execution: ForkChoiceExecution;
  /** Set since gloas. */
  readonly bid?: ForkChoiceBid;
}

/** The parts of a validated attestation that fork choice needs. */
export interface AttestationVotes {
  readonly indices: ArrayLike<number>;
  readonly slot: number;
  readonly targetEpoch: number;
  readonly blockRoot: RootHex;
  /** `data.index` since gloas: votes for the block with its payload. Must be false if the block is of the same slot. */
  readonly payloadPresent?: boolean;
}

/** A payload whose envelope has been verified (gloas/fork-choice.md, on_execution_payload_envelope). */
export interface VerifiedPayload {
  readonly status: "valid" | "optimistic";
  readonly blockNumber: number;
}

/** Votes of members of the payload timeliness committee, as in `PayloadAttestationData`. */
export interface PayloadAttestationVotes {
  /** Positions in the committee. A validator can have several. */
  readonly positions: Iterable<number>;
  readonly slot: number;
  readonly blockRoot: RootHex;
  readonly payloadPresent: boolean;
  readonly blobDataAvailable: boolean;
}

/** Facts about a block's arrival. */
export interface BlockArrival {
  /** True if the block arrived in its slot before the attestation deadline (ATTESTATION_TIMELINESS_INDEX). */
  readonly timely: boolean;
  /**
   * True if the block arrived in its slot before the deadline of payload attestations (PTC_TIMELINESS_INDEX). Defaults
   * to `timely`.
   */
  readonly ptcTimely?: boolean;
  /** Returns the committees of the block's slot. Called only while the block is of the current or previous slot. */
  readonly committees?: () => Iterable<ArrayLike<number>>;
}

export const sameCheckpoint = (a: Checkpoint, b: Checkpoint): boolean => a.epoch === b.epoch && a.root === b.root;

/** Balances from the justified checkpoint's state. */
export interface JustifiedBalances {
  checkpoint: Checkpoint;
  /** Effective balances in increments of 1 ETH; zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Total active balance including slashed validators. */
  totalActive: number;
  /** Effective balances of all validators, including inactive and slashed ones; defaults to `balances`. */
  effectiveBalances?: Uint16Array;
}

/** True if the payload has been delivered and may be valid. Since gloas, is_payload_verified (gloas/fork-choice.md). */
export function isPayloadVerified({ execution }: ForkChoiceBlock): boolean {
  return execution.status !== "absent" && execution.status !== "invalid";
}

/** Returns the block's payload, or null if there is none or none has been verified. */
export function executionBlockOf({ execution }: ForkChoiceBlock): { blockHash: RootHex; blockNumber: number } | null {
  return execution.status === "pre-merge" || execution.status === "absent" ? null : execution;
}

/**
 * get_supported_node: returns the payload status that a vote for a block supports, or null for a vote whose index
 * validate_on_attestation rejects. Votes for blocks from before gloas, which have only one variant, support it
 * regardless of the index.
 */
export function supportedStatus(
  block: ForkChoiceBlock,
  { slot, payloadPresent }: { slot: number; payloadPresent: boolean },
): PayloadStatus | null {
  if (block.bid === undefined) return "pending";
  if (payloadPresent) return block.slot < slot && isPayloadVerified(block) ? "full" : null;
  return block.slot < slot ? "empty" : "pending";
}
