import type { Fitness } from "../condition.ts";

export interface Candidate {
  readonly tier: number;
  readonly fitness: Fitness;
  readonly headSlot: number;
  /** It did not tell in time what others told. */
  readonly isLate: boolean;
  readonly isLeader: boolean;
}

const FITNESS_RANKS: Partial<Record<Fitness, number>> = { ready: 0, behind: 1 };

/** Whose story of the chain is told: of those that are fit for it the leader stays, as long as none of a better tier is. */
export function chooseLeader<C extends Candidate>(candidates: readonly C[]): C | undefined {
  return candidates.filter(({ fitness }) => FITNESS_RANKS[fitness] !== undefined).sort(inOrder)[0];
}

function inOrder(a: Candidate, b: Candidate): number {
  return (
    FITNESS_RANKS[a.fitness]! - FITNESS_RANKS[b.fitness]! ||
    Number(a.isLate) - Number(b.isLate) ||
    a.tier - b.tier ||
    Number(b.isLeader) - Number(a.isLeader) ||
    b.headSlot - a.headSlot
  );
}
