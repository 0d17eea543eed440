import type { SubnetName } from "./subnet-coverage.ts";

export interface DialCandidate {
  peerId: string;
  score: number;
  subnets: readonly SubnetName[];
}

export interface DialRoom {
  /** Peers that are connected or being dialled. */
  present: number;
  target: number;
  /** For the sake of a subnet that lacks peers, there may be as many as this. */
  maximum: number;
  /** How many dials can begin now. */
  dials: number;
  lacking: ReadonlySet<SubnetName>;
}

/** Whom to dial next: those on subnets that lack peers, then the best; of equals the last of the candidates, which are the newest. */
export function chooseDialled(candidates: readonly DialCandidate[], room: DialRoom): string[] {
  const { present, target, maximum, dials, lacking } = room;
  const ranked = candidates
    .map(({ peerId, score, subnets }, age) => ({
      peerId,
      score: Math.round(score),
      useful: subnets.filter((subnet) => lacking.has(subnet)).length,
      age,
    }))
    .sort((a, b) => b.useful - a.useful || b.score - a.score || b.age - a.age);
  const chosen: string[] = [];
  for (const { peerId, useful } of ranked) {
    if (chosen.length >= dials) break;
    if (present + chosen.length < (useful > 0 ? maximum : target)) chosen.push(peerId);
  }
  return chosen;
}
