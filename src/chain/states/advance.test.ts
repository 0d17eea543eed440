import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { advanceToSlot, NobodyActiveError } from "./advance.ts";

const GENESIS_TIME = 1_700_000_000;

it("says that nobody is active any more when all validators have left", async () => {
  const chainConfig = devChainConfig({
    forks: [{ fork: "fulu", epoch: 0 }],
    slotSeconds: 2,
    genesisTime: GENESIS_TIME,
  });
  const { state } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: GENESIS_TIME });
  for (let index = 0; index < state.validators.length; index++) state.validators.get(index).exitEpoch = 2;
  state.commit();
  const error: unknown = await advanceToSlot(state, 8 * SLOTS_PER_EPOCH).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NobodyActiveError);
  expect(String(error)).toMatch(/No validator is active in epoch \d or after it, so that the chain cannot go on\./);
});
