import { activePreset, SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { Caller } from "../../../../test/support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../../../test/support/api/fake-chain.ts";
import { createApi } from "../../api.ts";

const fake = createFakeChain([
  { fork: "altair", epoch: 2 },
  { fork: "bellatrix", epoch: 5 },
]);
const { config } = fake;
const caller = new Caller(createApi({ chain: asBeaconChain(fake), network: fakeNetwork(fake), setLogSpec: () => {} }));

describe("get_v1_config_fork_schedule", () => {
  it("lists the scheduled forks as a chain of versions", async () => {
    const genesis = toHex(config.GENESIS_FORK_VERSION);
    const altair = toHex(config.ALTAIR_FORK_VERSION);
    const bellatrix = toHex(config.BELLATRIX_FORK_VERSION);
    expect(await caller.call("get_v1_config_fork_schedule")).toEqual([
      { previous_version: genesis, current_version: genesis, epoch: "0" },
      { previous_version: genesis, current_version: altair, epoch: "2" },
      { previous_version: altair, current_version: bellatrix, epoch: "5" },
    ]);
  });
});

describe("get_v1_config_spec", () => {
  it("has configuration, preset and constants as strings, hex strings and arrays", async () => {
    const spec = await caller.call("get_v1_config_spec");
    expect(spec).toMatchObject({
      CONFIG_NAME: "fanal-dev",
      PRESET_BASE: "minimal",
      SECONDS_PER_SLOT: "6",
      SLOTS_PER_EPOCH: String(SLOTS_PER_EPOCH),
      GENESIS_FORK_VERSION: toHex(config.GENESIS_FORK_VERSION),
      CAPELLA_FORK_EPOCH: "18446744073709551615",
      FAR_FUTURE_EPOCH: "18446744073709551615",
      DOMAIN_RANDAO: "0x02000000",
      BLS_WITHDRAWAL_PREFIX: "0x00",
      DEPOSIT_CHAIN_ID: "1337",
      BLOB_SCHEDULE: [],
    });
    for (const [name, value] of Object.entries(spec)) {
      expect(typeof value === "string" || Array.isArray(value), name).toBe(true);
    }
  });
});

describe("get_v1_config_deposit_contract", () => {
  it("equals the specification's values", async () => {
    expect(await caller.call("get_v1_config_deposit_contract")).toEqual({
      chain_id: String(config.DEPOSIT_CHAIN_ID),
      address: toHex(config.DEPOSIT_CONTRACT_ADDRESS),
    });
  });
});

describe("getSpecPreset", () => {
  it("adds the preset constants under lowercase names", async () => {
    const spec = await caller.call("get_v1_config_spec");
    const preset = await caller.call("getSpecPreset");
    expect(preset).toMatchObject(spec);
    expect(preset.slots_per_epoch).toBe(String(SLOTS_PER_EPOCH));
    expect(Object.keys(preset)).toHaveLength(Object.keys(spec).length + Object.keys(activePreset).length);
  });
});
