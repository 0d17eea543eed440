import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { advanceToSlot, NoActiveValidatorsError } from "./advance.ts";

const GENESIS_TIME = 1_700_000_000;

it("reports that no validator is active after all have exited", async () => {
  const chainConfig = devChainConfig({
    forks: [{ fork: "fulu", epoch: 0 }],
    slotSeconds: 2,
    genesisTime: GENESIS_TIME,
  });
  const { state } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: GENESIS_TIME });
  for (let index = 0; index < state.validators.length; index++) state.validators.get(index).exitEpoch = 2;
  state.commit();
  const error: unknown = await advanceToSlot(state, 8 * SLOTS_PER_EPOCH).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NoActiveValidatorsError);
  expect(String(error)).toMatch(/No validator is active in epoch \d or later\. The chain cannot continue\./);
});
