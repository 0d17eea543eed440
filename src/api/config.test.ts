import { createBeaconConfig } from "@lodestar/config";
import { activePreset, SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../dev/chain-config.ts";
import { createConfigApi } from "./config.ts";

const forks = [
  { fork: "altair" as const, epoch: 2 },
  { fork: "bellatrix" as const, epoch: 5 },
];
const config = createBeaconConfig(devChainConfig({ forks, slotSeconds: 3, genesisTime: 7 }), new Uint8Array(32));
const api = createConfigApi(config);

describe("getForkSchedule", () => {
  it("lists the scheduled forks as a chain of versions", async () => {
    const { data } = await api.getForkSchedule();
    const first = config.GENESIS_FORK_VERSION;
    expect(data).toEqual([
      { previousVersion: first, currentVersion: first, epoch: 0 },
      { previousVersion: first, currentVersion: config.ALTAIR_FORK_VERSION, epoch: 2 },
      { previousVersion: config.ALTAIR_FORK_VERSION, currentVersion: config.BELLATRIX_FORK_VERSION, epoch: 5 },
    ]);
  });
});

describe("getSpec", () => {
  it("has configuration, preset and constants as strings, hex strings and arrays", async () => {
    const { data } = await api.getSpec();
    expect(data).toMatchObject({
      CONFIG_NAME: "fanal-dev",
      PRESET_BASE: "minimal",
      SECONDS_PER_SLOT: "3",
      SLOTS_PER_EPOCH: String(SLOTS_PER_EPOCH),
      GENESIS_FORK_VERSION: toHex(config.GENESIS_FORK_VERSION),
      CAPELLA_FORK_EPOCH: "18446744073709551615",
      FAR_FUTURE_EPOCH: "18446744073709551615",
      DOMAIN_RANDAO: "0x02000000",
      BLS_WITHDRAWAL_PREFIX: "0x00",
      DEPOSIT_CHAIN_ID: "1337",
      BLOB_SCHEDULE: [],
    });
    for (const [name, value] of Object.entries(data)) {
      expect(typeof value === "string" || Array.isArray(value), name).toBe(true);
    }
  });
});

describe("getDepositContract", () => {
  it("equals the specification's values", async () => {
    const { data } = await api.getDepositContract();
    expect(data).toEqual({ chainId: config.DEPOSIT_CHAIN_ID, address: config.DEPOSIT_CONTRACT_ADDRESS });
  });
});

describe("getSpecPreset", () => {
  it("adds the preset's constants under lower case names to the specification", async () => {
    const { data: spec } = await api.getSpec();
    const preset = await api.getSpecPreset();
    expect(preset).toMatchObject(spec);
    expect(preset.slots_per_epoch).toBe(String(SLOTS_PER_EPOCH));
    expect(Object.keys(preset)).toHaveLength(Object.keys(spec).length + Object.keys(activePreset).length);
  });
});
