import { FROM_ELECTRA, onlyFork, testRewards } from "./rewards-oracle.ts";

// test/chain/rewards/rewards-oracle.full.ts has a history in each of the other forks, and one through all of them.
testRewards([{ name: "fulu", forks: onlyFork("fulu"), happenings: FROM_ELECTRA }]);
