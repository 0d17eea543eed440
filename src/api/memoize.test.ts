import { createBeaconConfig, defaultChainConfig } from "@lodestar/config";
import { createCachedBeaconState, createPubkeyCache } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it, vi } from "vitest";
import { perState } from "./memoize.ts";

function createState() {
  const config = createBeaconConfig(defaultChainConfig, new Uint8Array(32));
  return createCachedBeaconState(ssz.phase0.BeaconState.defaultViewDU(), { config, pubkeyCache: createPubkeyCache() });
}

it("works something out once for a state, also for its copies", () => {
  const compute = vi.fn(({ slot }: { slot: number }) => ({ slot }));
  const slotOf = perState(compute);
  const state = createState();
  const first = slotOf(state);
  expect(slotOf(state)).toBe(first);
  expect(slotOf(state.clone())).toBe(first);
  expect(compute).toHaveBeenCalledTimes(1);
});

it("works it out anew for a state with other content", () => {
  const slotOf = perState(({ slot }) => slot);
  const state = createState();
  expect(slotOf(state)).toBe(0);
  const next = state.clone();
  next.slot = 1;
  next.commit();
  expect(slotOf(next)).toBe(1);
  expect(slotOf(state)).toBe(0);
});

it("keeps what was worked out even when it is undefined", () => {
  const compute = vi.fn(() => undefined);
  const nothingOf = perState(compute);
  const state = createState();
  nothingOf(state);
  nothingOf(state);
  expect(compute).toHaveBeenCalledTimes(1);
});
