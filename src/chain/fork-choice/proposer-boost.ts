import { GENESIS_SLOT, MIN_SEED_LOOKAHEAD } from "@lodestar/params";

/**
 * compute_proposer_score of phase0/fork-choice.md, in the unit of the balance. The specification rounds down to a Gwei;
 * in whole increments of 1 ETH and with a power of two as slots per epoch nothing is left to round, and rounding to
 * an increment would be wrong.
 */
export function proposerBoostScore(totalActiveBalance: number, slotsPerEpoch: number, boostPercent: number): number {
  return (totalActiveBalance * boostPercent) / (slotsPerEpoch * 100);
}

/** compute_shuffling_dependent_slot of phase0/fork-choice.md: the last slot that decides an epoch's proposers. */
export function shufflingDependentSlot(epoch: number, slotsPerEpoch: number): number {
  return epoch <= MIN_SEED_LOOKAHEAD ? GENESIS_SLOT : (epoch - MIN_SEED_LOOKAHEAD) * slotsPerEpoch - 1;
}
