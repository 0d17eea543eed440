import { chainConfigToJson } from "@lodestar/config";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "./chain-config.ts";
import type { ConfigOverrides } from "./genesis-parameters.ts";

const configWith = (configOverrides?: ConfigOverrides) =>
  devChainConfig({ forks: [{ fork: "fulu", epoch: 1 }], slotSeconds: 6, genesisTime: 1_700_000_000, configOverrides });

describe("config overrides", () => {
  it("replace the given constants only", () => {
    const config = configWith({
      SHARD_COMMITTEE_PERIOD: "0",
      MIN_PER_EPOCH_CHURN_LIMIT: "8",
      GENESIS_FORK_VERSION: "0x0100000A",
      BLOB_SCHEDULE: "1:9; 4:12",
    });
    expect({ ...chainConfigToJson(config) }).toEqual({
      ...chainConfigToJson(configWith()),
      SHARD_COMMITTEE_PERIOD: "0",
      MIN_PER_EPOCH_CHURN_LIMIT: "8",
      GENESIS_FORK_VERSION: "0x0100000a",
      BLOB_SCHEDULE: [
        { EPOCH: "1", MAX_BLOBS_PER_BLOCK: "9" },
        { EPOCH: "4", MAX_BLOBS_PER_BLOCK: "12" },
      ],
    });
  });

  it("accept the default value of every constant that no flag sets", () => {
    const current = chainConfigToJson(configWith());
    const overrides: Record<string, string> = {};
    for (const [name, value] of Object.entries(current)) {
      if (typeof value !== "string") continue;
      try {
        configWith({ [name]: value });
        overrides[name] = value;
      } catch (error) {
        expect(String(error)).toContain(`${name} cannot be set by --config`);
      }
    }
    expect(chainConfigToJson(configWith(overrides))).toEqual(current);
    expect(Object.keys(overrides).length).toBeGreaterThan(60);
  });

  it.each([
    ["SHARD_COMITTEE_PERIOD", "1", "Did you mean SHARD_COMMITTEE_PERIOD?"],
    ["NOTHING_OF_THE_KIND_AT_ALL", "1", "network/config.yaml of a dev chain lists all"],
    ["SLOTS_PER_EPOCH", "4", "it is a preset constant. --preset selects a whole preset"],
    ["SECONDS_PER_SLOT", "4", "--slot-seconds sets it"],
    ["ELECTRA_FORK_EPOCH", "4", "--fork and --fork-at set it"],
    ["toString", "4", "is not a constant of the chain configuration"],
    ["CHURN_LIMIT_QUOTIENT", "0", "it must be a whole number from 1 to 1000000000000000"],
    ["CHURN_LIMIT_QUOTIENT", "-1", "it must be a whole number"],
    ["CHURN_LIMIT_QUOTIENT", "1.5", "it must be a whole number"],
    ["ATTESTATION_DUE_BPS", "10001", "from 0 to 10000"],
    ["EJECTION_BALANCE", "32000000000", "from 0 to 31000000000"],
    ["MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA", "1", "from 1000000000 to"],
    ["ALTAIR_FORK_VERSION", "0x01", "it must be 0x and 8 hex digits"],
    ["ALTAIR_FORK_VERSION", "0x0000fa4a", "GENESIS_FORK_VERSION and ALTAIR_FORK_VERSION are both 0x0000fa4a"],
    ["BLOB_SCHEDULE", "0:9", "it must list epochs from fulu on"],
    ["BLOB_SCHEDULE", "4:9;4:12", "in ascending order"],
    ["BLOB_SCHEDULE", "nine", "such as 2:9;4:12"],
  ])("reject %s=%s", (name, value, complaint) => {
    expect(() => configWith({ [name]: value })).toThrow(complaint);
  });
});
