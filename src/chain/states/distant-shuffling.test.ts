import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { distantShuffling } from "./distant-shuffling.ts";

it("works out the committees that the library has, once for all who ask, and keeps them", async () => {
  const genesisTime = 1_700_000_000;
  const chainConfig = devChainConfig({ forks: [], slotSeconds: 2, genesisTime });
  const { state } = createDevGenesis({ chainConfig, validatorCount: 100, genesisTime });
  const [first, second] = await Promise.all([
    distantShuffling(state, 1, undefined),
    distantShuffling(state, 1, undefined),
  ]);
  expect(first.committees).toEqual(state.epochCtx.getShufflingAtEpoch(1).committees);
  expect(second).toBe(first);
  expect(await distantShuffling(state.clone(), 1, undefined)).toBe(first);
});
