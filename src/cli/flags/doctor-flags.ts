import { booleanFlag, type FlagTable, valueFlag } from "./flag.ts";
import { nonEmpty, positiveNumber } from "./flag-values.ts";

export const DOCTOR_FLAGS = {
  tokenFile: valueFlag({
    name: "token-file",
    kind: "text",
    placeholder: "FILE",
    description: "File with the token for all upstreams that have no credentials of their own",
    fallback: undefined,
    parse: nonEmpty("a file"),
  }),
  timeout: valueFlag({
    name: "timeout",
    kind: "number",
    placeholder: "SECONDS",
    description: "How long to wait for each answer before giving it up",
    fallback: 10,
    parse: positiveNumber,
  }),
  all: booleanFlag({
    name: "all",
    description: "Ask for whole states, too, which are hundreds of megabytes on mainnet",
  }),
  json: booleanFlag({ name: "json", description: "Print what was found as JSON" }),
} as const satisfies FlagTable;
