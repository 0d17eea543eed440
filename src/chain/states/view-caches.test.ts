import { type CachedBeaconStateAltair, isStateValidatorsNodesPopulated } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { advanceToSlot } from "./advance.ts";
import { populateViewCaches } from "./view-caches.ts";

const GENESIS_TIME = 1_700_000_000;

function denseState(): CachedBeaconStateAltair {
  const forks = [{ fork: "fulu", epoch: 0 }] as const;
  const chainConfig = devChainConfig({ forks, slotSeconds: 2, genesisTime: GENESIS_TIME });
  const { state } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: GENESIS_TIME });
  const cold = state.clone(true);
  expect(isStateValidatorsNodesPopulated(cold)).toBe(false);
  populateViewCaches(cold);
  return cold as CachedBeaconStateAltair;
}

const isDense = (state: CachedBeaconStateAltair) =>
  isStateValidatorsNodesPopulated(state) &&
  state.previousEpochParticipation.cache.nodesPopulated &&
  state.currentEpochParticipation.cache.nodesPopulated;

it("populates a state for its successor", () => {
  const state = denseState();
  expect(isDense(state.clone() as CachedBeaconStateAltair)).toBe(true);
  expect(isDense(state)).toBe(false);
});

it("is not undone by a state made for another caller", async () => {
  const state = denseState();
  const advanced = await advanceToSlot(state, 1, { keepsCaches: true });
  expect(advanced.slot).toBe(1);
  expect(isDense(state)).toBe(true);
  await advanceToSlot(state, 1);
  expect(isDense(state)).toBe(false);
});

it("leaves a state of gloas as it is, since its lists keep no caches", () => {
  const chainConfig = devChainConfig({
    forks: [{ fork: "gloas", epoch: 0 }],
    slotSeconds: 2,
    genesisTime: GENESIS_TIME,
  });
  const { state } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: GENESIS_TIME });
  const root = state.hashTreeRoot();
  populateViewCaches(state);
  expect(isStateValidatorsNodesPopulated(state)).toBe(false);
  expect(state.hashTreeRoot()).toEqual(root);
});
