import type { RootHex } from "@lodestar/types";

export interface Checkpoint {
  readonly epoch: number;
  readonly root: RootHex;
}

/** Execution payload status (sync/optimistic.md): "optimistic" is NOT_VALIDATED, "invalid" is INVALIDATED. */
export type ForkChoiceExecution =
  | { readonly status: "pre-merge" }
  | {
      readonly status: "valid" | "optimistic" | "invalid";
      readonly blockHash: RootHex;
      readonly blockNumber: number;
    };

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
}

/** The parts of a validated attestation that fork choice needs. */
export interface AttestationVotes {
  readonly indices: ArrayLike<number>;
  readonly slot: number;
  readonly targetEpoch: number;
  readonly blockRoot: RootHex;
}

export const sameCheckpoint = (a: Checkpoint, b: Checkpoint): boolean => a.epoch === b.epoch && a.root === b.root;

/** Balances from the justified checkpoint's state. */
export interface JustifiedBalances {
  checkpoint: Checkpoint;
  /** Effective balances in increments of 1 ETH; zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Total active balance including slashed validators. */
  totalActive: number;
}
