import type { ChainForkConfig } from "@lodestar/config";
import { type BalanceSource, toGwei } from "./balance-source.ts";
import type { CommitteeMembers } from "./committee-members.ts";
import { estimateCommitteeWeight, type SlotRange } from "./committee-weight.ts";

/** Parts of the configuration that the fast confirmation rule reads. */
export type ConfirmationConfig = Pick<ChainForkConfig, "PROPOSER_SCORE_BOOST" | "CONFIRMATION_BYZANTINE_THRESHOLD">;

/** What all checks of one run of the fast confirmation rule have in common. */
export interface ConfirmationContext {
  readonly config: ConfirmationConfig;
  readonly slotsPerEpoch: number;
  readonly currentSlot: number;
  readonly members: CommitteeMembers;
}

/** get_equivocation_score, in increments. */
function equivocationScore({ members }: ConfirmationContext, source: BalanceSource, range: SlotRange): number {
  let score = 0;
  for (const validator of members.equivocating(range)) {
    if (source.isActive(validator)) score += source.effectiveBalances[validator] ?? 0;
  }
  return score;
}

/** compute_adversarial_weight, in Gwei. */
export function adversarialWeight(context: ConfirmationContext, source: BalanceSource, range: SlotRange): bigint {
  const { config, slotsPerEpoch } = context;
  const maximum = estimateCommitteeWeight(toGwei(source.totalActive), range, slotsPerEpoch);
  const adversarial = (maximum / 100n) * BigInt(config.CONFIRMATION_BYZANTINE_THRESHOLD);
  return excessOf(adversarial, toGwei(equivocationScore(context, source, range)));
}

/** Subtraction that stops at zero. */
export const excessOf = (weight: bigint, deduction: bigint): bigint => (weight > deduction ? weight - deduction : 0n);
