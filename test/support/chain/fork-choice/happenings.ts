/** Coverage counters: a comparison is useful only if the hard cases were reached. */
const HAPPENINGS = [
  "reorgs",
  "finalizations",
  "boosts",
  "prunings",
  "invalidBranchRoots",
  "refusedVotes",
  "restarts",
  "dropped",
  "confirmations",
  "lostConfirmations",
  // Since gloas
  "emptyHeads",
  "fullHeads",
  "variantChanges",
  "headsByTick",
  "refusedBoosts",
  "crossings",
] as const;

export type Happenings = Record<(typeof HAPPENINGS)[number], number>;

export const noHappenings = () => Object.fromEntries(HAPPENINGS.map((name) => [name, 0])) as Happenings;
