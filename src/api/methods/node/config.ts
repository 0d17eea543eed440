import { chainConfigToJson, type SpecJson, specValuesToJson } from "@lodestar/config";
import { activePreset, FAR_FUTURE_EPOCH } from "@lodestar/params";
import type { ChainView } from "../../chain-view.ts";
import { defineMethod, defineOperation, get } from "../../definition.ts";
import { dictionary, either, list, object, shape, text } from "../../schemas.ts";
import { SPEC_CONSTANTS } from "./spec-constants.ts";

const SPEC = { name: "spec", schema: dictionary(either(text, list({}))) };

const specOf = ({ config }: ChainView): SpecJson => ({
  ...chainConfigToJson(config),
  ...specValuesToJson(activePreset),
  ...specValuesToJson(SPEC_CONSTANTS),
});

const getForkSchedule = defineOperation("config.getForkSchedule", {
  number: 41,
  name: "get_v1_config_fork_schedule",
  summary: "All scheduled forks, past and future.",
  result: { name: "forks", schema: list(shape("Fork")) },
  failures: [],
  rest: [get("/eth/v1/config/fork_schedule")],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  async handler({ chain }) {
    const scheduled = chain.config.forksAscendingEpochOrder.filter(({ epoch }) => epoch !== FAR_FUTURE_EPOCH);
    return {
      data: scheduled.map(({ version, epoch }, index) => ({
        previousVersion: scheduled[index - 1]?.version ?? version,
        currentVersion: version,
        epoch,
      })),
    };
  },
});

const getSpec = defineOperation("config.getSpec", {
  number: 42,
  name: "get_v1_config_spec",
  summary: "Constants, preset and configuration of the chain.",
  result: SPEC,
  failures: [],
  rest: [get("/eth/v1/config/spec")],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  handler: async ({ chain }) => ({ data: specOf(chain) }),
});

const getDepositContract = defineOperation("config.getDepositContract", {
  number: 43,
  name: "get_v1_config_deposit_contract",
  summary: "Chain and address of the deposit contract.",
  result: {
    name: "deposit_contract",
    schema: object({ chain_id: shape("Uint64"), address: shape("Address") }),
  },
  failures: [],
  rest: [get("/eth/v1/config/deposit_contract")],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  async handler({ chain }) {
    const { DEPOSIT_CHAIN_ID, DEPOSIT_CONTRACT_ADDRESS } = chain.config;
    return { data: { chainId: DEPOSIT_CHAIN_ID, address: DEPOSIT_CONTRACT_ADDRESS } };
  },
});

const getSpecPreset = defineMethod({
  number: 44,
  name: "getSpecPreset",
  summary: "Like get_v1_config_spec, with the preset constants also under lowercase names.",
  result: SPEC,
  failures: [],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  handler({ chain }) {
    const spec = specOf(chain);
    const lowerCase = Object.keys(activePreset).map((name) => [name.toLowerCase(), spec[name]]);
    return { ...spec, ...Object.fromEntries(lowerCase) };
  },
});

export const configMethods = [getForkSchedule, getSpec, getDepositContract, getSpecPreset] as const;
