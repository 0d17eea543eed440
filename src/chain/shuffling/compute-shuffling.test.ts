import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { computeShuffling } from "./compute-shuffling.ts";

it("computes the library's shuffling, once for concurrent callers, and caches it", async () => {
  const genesisTime = 1_700_000_000;
  const chainConfig = devChainConfig({ forks: [], slotSeconds: 2, genesisTime });
  const { state } = createDevGenesis({ chainConfig, validatorCount: 100, genesisTime });
  const [first, second] = await Promise.all([
    computeShuffling(state, 1, undefined),
    computeShuffling(state, 1, undefined),
  ]);
  expect(first.committees).toEqual(state.epochCtx.getShufflingAtEpoch(1).committees);
  expect(second).toBe(first);
  expect(await computeShuffling(state.clone(), 1, undefined)).toBe(first);
});
