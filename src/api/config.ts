import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { type BeaconConfig, chainConfigToJson, type SpecJson, specValuesToJson } from "@lodestar/config";
import { activePreset, FAR_FUTURE_EPOCH } from "@lodestar/params";
import { SPEC_CONSTANTS } from "./spec-constants.ts";

export interface ConfigApi extends ApplicationMethods<routes.config.Endpoints> {
  /** The specification's values, and the preset's once more under lower case names. */
  getSpecPreset(): Promise<SpecJson>;
}

export function createConfigApi(config: BeaconConfig): ConfigApi {
  // Nothing of it changes while the node runs.
  const preset = specValuesToJson(activePreset);
  const spec: SpecJson = { ...chainConfigToJson(config), ...preset, ...specValuesToJson(SPEC_CONSTANTS) };

  return {
    async getForkSchedule() {
      const scheduled = config.forksAscendingEpochOrder.filter(({ epoch }) => epoch !== FAR_FUTURE_EPOCH);
      return {
        data: scheduled.map(({ version, epoch }, index) => ({
          previousVersion: scheduled[index - 1]?.version ?? version,
          currentVersion: version,
          epoch,
        })),
      };
    },

    async getSpec() {
      return { data: spec };
    },

    async getDepositContract() {
      return { data: { chainId: config.DEPOSIT_CHAIN_ID, address: config.DEPOSIT_CONTRACT_ADDRESS } };
    },

    async getSpecPreset() {
      const lowerCase = Object.entries(preset).map(([name, value]) => [name.toLowerCase(), value]);
      return { ...spec, ...Object.fromEntries(lowerCase) };
    },
  };
}
