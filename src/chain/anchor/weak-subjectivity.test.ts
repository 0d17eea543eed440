import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { DevFork } from "../../dev/forks.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { findStaleState } from "./weak-subjectivity.ts";

const GENESIS_TIME = 1_700_000_000;
/** MIN_VALIDATOR_WITHDRAWABILITY_DELAY in the minimal configuration. */
const WITHDRAWABILITY_DELAY = 256;

/** For 672 validators with 32 ETH each, 1/32 of which may exit per epoch. */
const PERIODS: [fork: DevFork, periodEpochs: number][] = [
  // 672 × (200 + 3 × 10) / (600 × 16 deposits × 8 slots), which exceeds the churn.
  ["phase0", WITHDRAWABILITY_DELAY + 2],
  // 10 × 21,504 ETH / (2 × 672 ETH × 100)
  ["electra", WITHDRAWABILITY_DELAY + 1],
  ["fulu", WITHDRAWABILITY_DELAY + 1],
];

it.each(PERIODS)("a state of %s is valid for the weak subjectivity period of the fork", (fork, periodEpochs) => {
  const chainConfig = devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 6, genesisTime: GENESIS_TIME });
  const { state, config } = createDevGenesis({ chainConfig, validatorCount: 672, genesisTime: GENESIS_TIME });
  expect(findStaleState(config, state, periodEpochs)).toBeNull();
  const ageEpochs = periodEpochs + 1;
  expect(findStaleState(config, state, ageEpochs)).toEqual({ epoch: 0, ageEpochs, periodEpochs });
});
