import { type FlagTable, valueFlag } from "../flag.ts";
import { dataDirFlag } from "../shared-flags.ts";
import { DEV_GENESIS_FLAGS } from "./dev-genesis-flags.ts";
import { parseValidatorList } from "./validator-list.ts";

/** Flags of `fanal dev keys`: the subset of `fanal dev` flags that describes the chain. */
export const DEV_KEYS_FLAGS = {
  indices: valueFlag({
    name: "indices",
    kind: "text",
    placeholder: "all|LIST",
    description: "Validators to export, such as 0-15,20; indices above the last validator are those of later deposits",
    choices: ["all"],
    fallback: parseValidatorList("all"),
    fallbackText: "all",
    parse: parseValidatorList,
  }),
  dataDir: dataDirFlag(".fanal/dev"),
  ...DEV_GENESIS_FLAGS,
} as const satisfies FlagTable;
