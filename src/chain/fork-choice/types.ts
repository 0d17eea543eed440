import type { RootHex } from "@lodestar/types";

export interface Checkpoint {
  readonly epoch: number;
  readonly root: RootHex;
}

/**
 * What is known about a block's execution payload (sync/optimistic.md): "optimistic" is the specification's
 * NOT_VALIDATED, "invalid" its INVALIDATED.
 */
export type ForkChoiceExecution =
  | { readonly status: "pre-merge" }
  | {
      readonly status: "valid" | "optimistic" | "invalid";
      readonly blockHash: RootHex;
      readonly blockNumber: number;
    };

/** A block as fork choice sees it. Objects handed out are snapshots: a change of payload status makes a new one. */
export interface ForkChoiceBlock {
  readonly slot: number;
  readonly root: RootHex;
  readonly parentRoot: RootHex;
  /** Left out of blocks that are restored from the database. */
  readonly proposerIndex?: number;
  readonly stateRoot: RootHex;
  /** The checkpoint block of the block's own epoch, which is what an attestation to this block has as its target. */
  readonly targetRoot: RootHex;
  readonly justified: Checkpoint;
  readonly finalized: Checkpoint;
  /** The checkpoints the block's state would have if its epoch ended right after it. */
  readonly unrealizedJustified: Checkpoint;
  readonly unrealizedFinalized: Checkpoint;
  readonly execution: ForkChoiceExecution;
}

/** The part of a validated attestation that moves votes. */
export interface AttestationVotes {
  readonly indices: ArrayLike<number>;
  readonly slot: number;
  readonly targetEpoch: number;
  readonly blockRoot: RootHex;
}

export const sameCheckpoint = (a: Checkpoint, b: Checkpoint): boolean => a.epoch === b.epoch && a.root === b.root;

/** What fork choice has to know of the state of the justified checkpoint. */
export interface JustifiedBalances {
  checkpoint: Checkpoint;
  /** Effective balances in increments of 1 ETH, zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Balance of all active validators, slashed ones included. */
  totalActive: number;
}
