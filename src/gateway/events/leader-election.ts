import type { HealthState } from "../upstream/upstream-health.ts";

export interface LeaderCandidate {
  readonly tier: number;
  readonly state: HealthState;
  readonly headSlot: number;
  /** It announced a head too late. */
  readonly isLate: boolean;
  readonly isLeader: boolean;
}

const STATE_RANKS: Partial<Record<HealthState, number>> = { ready: 0, behind: 1 };

/**
 * Elects the upstream whose chain events are published. The leader stays unless an upstream with a better state or tier
 * is available.
 */
export function electLeader<C extends LeaderCandidate>(candidates: readonly C[]): C | undefined {
  return candidates.filter(({ state }) => STATE_RANKS[state] !== undefined).sort(byPreference)[0];
}

function byPreference(a: LeaderCandidate, b: LeaderCandidate): number {
  return (
    STATE_RANKS[a.state]! - STATE_RANKS[b.state]! ||
    Number(a.isLate) - Number(b.isLate) ||
    a.tier - b.tier ||
    Number(b.isLeader) - Number(a.isLeader) ||
    b.headSlot - a.headSlot
  );
}
