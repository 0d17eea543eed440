import { booleanFlag, type FlagTable, valueFlag } from "./flag.ts";
import { httpUrl, nonEmpty, positiveNumber } from "./flag-values.ts";
import { dataDirFlag } from "./shared-flags.ts";

// Flags of commands that do not run a node.

export const CALL_FLAGS = {
  url: valueFlag({
    name: "url",
    kind: "text",
    placeholder: "URL",
    description: "JSON-RPC URL of the node",
    fallback: "http://127.0.0.1:9190",
    parse: httpUrl,
  }),
  tokenFile: valueFlag({
    name: "token-file",
    kind: "text",
    placeholder: "FILE",
    description: "File with the bearer token of the node",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  json: booleanFlag({ name: "json", description: "Print the result as JSON" }),
  meta: booleanFlag({ name: "meta", description: "Request metadata and print it after the result" }),
  timeout: valueFlag({
    name: "timeout",
    kind: "number",
    placeholder: "SECONDS",
    description: "Timeout in seconds",
    fallback: 60,
    parse: positiveNumber,
  }),
} as const satisfies FlagTable;

export const METHODS_FLAGS = {
  json: booleanFlag({ name: "json", description: "Print JSON" }),
} as const satisfies FlagTable;

export const DB_FLAGS = {
  dataDir: dataDirFlag("none, required"),
  network: valueFlag({
    name: "network",
    kind: "text",
    placeholder: "NAME|DIR",
    description: "Network of the chain if it is not built in: directory with config.yaml",
    fallback: undefined,
    fallbackText: "the network stored in the database",
    parse: nonEmpty("a network's name or a directory"),
  }),
} as const satisfies FlagTable;

export const DOCTOR_FLAGS = {
  tokenFile: valueFlag({
    name: "token-file",
    kind: "text",
    placeholder: "FILE",
    description: "File with the token for upstreams without credentials",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  timeout: valueFlag({
    name: "timeout",
    kind: "number",
    placeholder: "SECONDS",
    description: "Timeout of each request",
    fallback: 10,
    parse: positiveNumber,
  }),
  all: booleanFlag({
    name: "all",
    description: "Also request full states, which are hundreds of megabytes on mainnet",
  }),
  json: booleanFlag({ name: "json", description: "Print the report as JSON" }),
} as const satisfies FlagTable;
