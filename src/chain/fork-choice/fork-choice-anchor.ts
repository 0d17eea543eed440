import type { ChainForkConfig } from "@lodestar/config";
import type { Checkpoint, ForkChoiceBlock } from "./types.ts";

/** Parts of the configuration that fork choice reads. */
export type ForkChoiceConfig = Pick<
  ChainForkConfig,
  "PROPOSER_SCORE_BOOST" | "REORG_HEAD_WEIGHT_THRESHOLD" | "REORG_PARENT_WEIGHT_THRESHOLD" | "GLOAS_FORK_EPOCH"
>;

export interface ForkChoiceAnchor {
  config: ForkChoiceConfig;
  currentSlot: number;
  /** Trusted block. Earlier blocks are ignored. */
  anchor: ForkChoiceBlock;
  /** Initial justified and finalized checkpoint, with the anchor as its block. */
  checkpoint: Checkpoint;
  /** Effective balances of the checkpoint state in increments of 1 ETH; zero for inactive or slashed validators. */
  balances: Uint16Array;
  /** Total active balance including slashed validators, for the proposer boost; defaults to the sum of `balances`. */
  totalActiveBalance?: number;
  /** See `JustifiedBalances`. */
  effectiveBalances?: Uint16Array;
  slotsPerEpoch?: number;
  ptcSize?: number;
}
