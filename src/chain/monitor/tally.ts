import type { ValidatorReview } from "./epoch-review.ts";
import type { PayloadVotes } from "./payload-votes.ts";

/** Counters for one validator, or for all monitored validators, since startup. */
export interface Tally {
  attestations: { included: number; missed: number };
  attestationsSeen: number;
  /** Sum of inclusion distances in slots. */
  inclusionDistance: number;
  correctVotes: { source: number; target: number; head: number };
  proposals: { included: number; missed: number };
  syncSignatures: { included: number; missed: number };
  payloadVotes: PayloadVotes;
  /** In Gwei, like rewards. */
  balance: number;
  /** Reward for the most recently reviewed epoch; undefined if there are no earlier balances. */
  reward: number | undefined;
  slashed: number;
}

export const newTally = (): Tally => ({
  attestations: { included: 0, missed: 0 },
  attestationsSeen: 0,
  inclusionDistance: 0,
  correctVotes: { source: 0, target: 0, head: 0 },
  proposals: { included: 0, missed: 0 },
  syncSignatures: { included: 0, missed: 0 },
  payloadVotes: { included: 0, missed: 0 },
  balance: 0,
  reward: undefined,
  slashed: 0,
});

/** Resets gauges for a new epoch; counters keep counting. */
export function resetLevels(tally: Tally): void {
  tally.balance = 0;
  tally.reward = undefined;
  tally.slashed = 0;
}

interface Reviewed {
  review: ValidatorReview;
  isSeen: boolean;
  reward: number | undefined;
}

export function addReview(tally: Tally, { review, isSeen, reward }: Reviewed): void {
  const { attestation, proposed, missedProposals, sync, payloadVotes, balance, slashed } = review;
  if (attestation) {
    const { distance, correct } = attestation;
    tally.attestations[distance === undefined ? "missed" : "included"]++;
    tally.inclusionDistance += distance ?? 0;
    for (const part of ["source", "target", "head"] as const) tally.correctVotes[part] += Number(correct[part]);
    tally.attestationsSeen += Number(isSeen);
  }
  tally.proposals.included += proposed.length;
  tally.proposals.missed += missedProposals.length;
  tally.syncSignatures.included += sync.included;
  tally.syncSignatures.missed += sync.missed;
  tally.payloadVotes.included += payloadVotes.included;
  tally.payloadVotes.missed += payloadVotes.missed;
  tally.balance += balance;
  if (reward !== undefined) tally.reward = (tally.reward ?? 0) + reward;
  tally.slashed += Number(slashed);
}
