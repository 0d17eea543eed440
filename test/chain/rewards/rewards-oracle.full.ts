import { FROM_ALTAIR, FROM_CAPELLA, FROM_ELECTRA, ON_EVERY_FORK, onlyFork, testRewards } from "./rewards-oracle.ts";

const FORKS = ["altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;

testRewards([
  { name: "phase0", forks: onlyFork("phase0"), happenings: ON_EVERY_FORK },
  { name: "altair", forks: onlyFork("altair"), happenings: FROM_ALTAIR },
  { name: "bellatrix", forks: onlyFork("bellatrix"), happenings: FROM_ALTAIR },
  { name: "capella", forks: onlyFork("capella"), happenings: FROM_CAPELLA },
  { name: "deneb", forks: onlyFork("deneb"), happenings: FROM_CAPELLA },
  { name: "electra", forks: onlyFork("electra"), happenings: FROM_ELECTRA },
  {
    name: "one fork after the other",
    forks: FORKS.map((fork, position) => ({ fork, epoch: 7 * (position + 1) })),
    happenings: FROM_ALTAIR,
  },
]);
