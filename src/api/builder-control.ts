import type { BuilderIndex, Slot } from "@lodestar/types";
import type { AffectedSlots } from "./payload-control.ts";

/** Control of the chain's builders, which offer payloads since gloas. */
export interface BuilderControl {
  /** Returns all builders in the registry of the head. */
  list(): BuilderInfo[];
  get(builder: BuilderIndex): BuilderInfo;
  /** Makes a builder bid in the next slots. Replaces earlier calls for the builder; without slots, ends its bids. */
  bid(builder: BuilderIndex, options: BidOptions): Promise<AffectedSlots>;
  /** Makes a builder withhold the payloads of its bids in the next slots. Without slots, it reveals all. */
  withhold(builder: BuilderIndex, slots: Slot): Promise<AffectedSlots>;
  /** `amount` is in Gwei. */
  topUp(builder: BuilderIndex, amount: bigint): Promise<QueuedRequest>;
  exit(builder: BuilderIndex): Promise<QueuedRequest>;
}

/** A request that waits for the next payload. */
export interface QueuedRequest {
  /** Name from the specification, such as `builder_exit_request`. */
  type: string;
  status: "queued";
  /** JSON as in the Beacon API. */
  data: unknown;
}

export interface BidOptions {
  /** Payment to the proposer, in Gwei. */
  value: bigint;
  /** Number of slots; Infinity for all slots from now on. */
  slots: number;
  /** True to sign a second bid for each slot. */
  equivocates: boolean;
}

/** "pending" until its deposit is finalized, "exiting" until its balance can be withdrawn. */
export const BUILDER_STATUSES = ["pending", "active", "exiting", "exited"] as const;
export type BuilderStatus = (typeof BUILDER_STATUSES)[number];

/**
 * "taken" into a block, "outbid" by the local payload or another bid, or "refused" as invalid. "unused" if there was no
 * block.
 */
export const BID_OUTCOMES = ["taken", "outbid", "refused", "unused"] as const;
export type BidOutcome = (typeof BID_OUTCOMES)[number];

export interface LastBid {
  slot: Slot;
  /** In Gwei. */
  value: number;
  outcome: BidOutcome;
  /** Reason of a refusal, as a sentence. */
  reason: string | null;
  /** Why the builder's second bid for the slot was ignored, as a sentence; null if it made only one. */
  secondBid: string | null;
}

export interface BuilderInfo {
  index: BuilderIndex;
  pubkey: Uint8Array;
  executionAddress: Uint8Array;
  status: BuilderStatus;
  /** In Gwei. */
  balance: number;
  /** Payments that are not withdrawn from the balance yet, in Gwei. */
  pendingPayments: number;
  /** Highest value of a bid that the balance covers, in Gwei. */
  maxBid: number;
  /** Null while the builder has not exited. */
  withdrawableEpoch: number | null;
  lastBid: LastBid | null;
}
