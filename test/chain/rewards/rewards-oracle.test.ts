import { FROM_ALTAIR, FROM_ELECTRA, onlyFork, testRewards } from "./rewards-oracle.ts";

const FORKS = ["altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;

// test/chain/rewards/rewards-oracle.full.ts has a history in each of the other forks.
testRewards([
  { name: "fulu", forks: onlyFork("fulu"), happenings: FROM_ELECTRA },
  {
    name: "one fork after the other",
    forks: FORKS.map((fork, position) => ({ fork, epoch: 7 * (position + 1) })),
    happenings: FROM_ALTAIR,
  },
]);
