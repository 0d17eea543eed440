import { createBeaconConfig, defaultChainConfig } from "@lodestar/config";
import { createCachedBeaconState, createPubkeyCache } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { latestBlock } from "./latest-block.ts";

it("is worked out once for a state and its copies, and anew for a state with another block", () => {
  const config = createBeaconConfig(defaultChainConfig, new Uint8Array(32));
  const state = createCachedBeaconState(ssz.phase0.BeaconState.defaultViewDU(), {
    config,
    pubkeyCache: createPubkeyCache(),
  });
  const block = latestBlock(state);
  expect(latestBlock(state.clone())).toBe(block);
  const next = state.clone();
  next.latestBlockHeader.slot = 1;
  next.commit();
  expect(latestBlock(next).slot).toBe(1);
  expect(latestBlock(next).root).not.toBe(block.root);
  expect(latestBlock(state)).toBe(block);
});
