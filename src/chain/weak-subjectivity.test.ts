import { expect, test } from "vitest";
import { devChainConfig } from "../dev/chain-config.ts";
import type { DevFork } from "../dev/forks.ts";
import { createDevGenesis } from "../dev/genesis.ts";
import { findStale } from "./weak-subjectivity.ts";

const GENESIS_TIME = 1_700_000_000;
/** MIN_VALIDATOR_WITHDRAWABILITY_DELAY of the minimal configuration. */
const WITHDRAWABILITY_DELAY = 256;

/** With 672 validators of 32 ETH each, of which a thirty-second part may leave in an epoch. */
const PERIODS: [fork: DevFork, periodEpochs: number][] = [
  // 672 × (200 + 3 × 10) / (600 × 16 deposits × 8 slots), which is more than what comes of the churn.
  ["phase0", WITHDRAWABILITY_DELAY + 2],
  // 10 × 21,504 ETH / (2 × 672 ETH × 100)
  ["electra", WITHDRAWABILITY_DELAY + 1],
  ["fulu", WITHDRAWABILITY_DELAY + 1],
];

test.each(PERIODS)("a state of %s may be as old as the weak subjectivity period of that fork", (fork, periodEpochs) => {
  const chainConfig = devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 6, genesisTime: GENESIS_TIME });
  const { state, config } = createDevGenesis({ chainConfig, validatorCount: 672, genesisTime: GENESIS_TIME });
  expect(findStale(config, state, periodEpochs)).toBeNull();
  const ageEpochs = periodEpochs + 1;
  expect(findStale(config, state, ageEpochs)).toEqual({ epoch: 0, ageEpochs, periodEpochs });
});
