import { booleanFlag, type FlagTable, valueFlag } from "./flag.ts";
import { nonEmpty, positiveNumber } from "./flag-values.ts";

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
