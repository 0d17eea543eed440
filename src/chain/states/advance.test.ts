import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { advanceToSlot, NoActiveValidatorsError } from "./advance.ts";

const GENESIS_TIME = 1_700_000_000;

it.each([
  ["fulu", 0, /No validator is active in epoch \d or later\. The chain cannot continue\./],
  [
    "gloas",
    1,
    /Fewer than 8 validators are active in epoch \d or later: .*payload timeliness committee\. The chain cannot continue\./,
  ],
] as const)(
  "reports that too few validators are active after others have exited, in %s",
  async (fork, rest, message) => {
    const chainConfig = devChainConfig({
      forks: [{ fork, epoch: 0 }],
      slotSeconds: 2,
      genesisTime: GENESIS_TIME,
    });
    const { state } = createDevGenesis({ chainConfig, validatorCount: 8, genesisTime: GENESIS_TIME });
    for (let index = rest; index < state.validators.length; index++) state.validators.get(index).exitEpoch = 2;
    state.commit();
    const error: unknown = await advanceToSlot(state, 8 * SLOTS_PER_EPOCH).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoActiveValidatorsError);
    expect(String(error)).toMatch(message);
  },
);
