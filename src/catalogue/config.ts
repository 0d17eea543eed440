import { defineEntry, get } from "./entry.ts";

export const configEntries = [
  defineEntry({
    number: 41,
    name: "get_v1_config_fork_schedule",
    summary: "Every scheduled fork, past and to come.",
    rest: get("/eth/v1/config/fork_schedule"),
    invoke: ({ operations }) => operations.config.getForkSchedule(),
  }),
  defineEntry({
    number: 42,
    name: "get_v1_config_spec",
    summary: "Constants, preset and configuration that the node runs with.",
    rest: get("/eth/v1/config/spec"),
    invoke: ({ operations }) => operations.config.getSpec(),
  }),
  defineEntry({
    number: 43,
    name: "get_v1_config_deposit_contract",
    summary: "Chain and address of the deposit contract.",
    rest: get("/eth/v1/config/deposit_contract"),
    invoke: ({ operations }) => operations.config.getDepositContract(),
  }),
  defineEntry({
    number: 44,
    name: "getSpecPreset",
    summary: "The object of get_v1_config_spec, with the preset's constants also under their lower case names.",
    invoke: ({ operations }) => operations.config.getSpecPreset(),
  }),
];
