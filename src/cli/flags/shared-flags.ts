import { KZG_CHOICES } from "../../data/kzg/backend.ts";
import { CHAIN_FLAGS } from "./chain/chain-flags.ts";
import { parseValidatorChoice } from "./chain/monitored-validators.ts";
import { BUILDER_FLAGS } from "./execution/builder-flags.ts";
import { booleanFlag, type FlagTable, listFlag, valueFlag } from "./flag.ts";
import { httpUrl, nonEmpty, oneOf } from "./flag-values.ts";
import { LOG_FLAGS } from "./log-flags.ts";
import { LIMIT_FLAGS } from "./server/limit-flags.ts";
import { serverFlags } from "./server/server-flags.ts";

/** Config file flag, the only flag not allowed in a config file. */
export const CONFIG_FILE_FLAG = valueFlag({
  name: "config-file",
  kind: "text",
  placeholder: "FILE",
  description: "YAML (.yaml, .yml) or TOML (.toml) file with settings; its keys are the names of these flags",
  fallback: undefined,
  parse: nonEmpty("a file"),
});

export function dataDirFlag(fallbackText: string) {
  return valueFlag({
    name: "data-dir",
    aliases: ["datadir"],
    kind: "text",
    placeholder: "DIR",
    description: "Data directory of the chain",
    fallback: undefined,
    fallbackText,
    parse: nonEmpty("a directory"),
  });
}

/** Flags shared by `fanal dev` and `fanal node`. */
export const SHARED_FLAGS = {
  ...serverFlags({ areOn: false }),
  ...LOG_FLAGS,
  kzgBackend: valueFlag({
    name: "kzg",
    kind: "text",
    placeholder: "NAME",
    description: `KZG backend for blobs: ${KZG_CHOICES.join(", ")}. auto uses the first that loads`,
    choices: KZG_CHOICES,
    fallback: "auto",
    parse: oneOf(KZG_CHOICES),
  }),
  ...CHAIN_FLAGS,
  monitorValidators: listFlag({
    name: "monitor-validators",
    placeholder: "INDICES|PUBKEYS",
    description: "Validators to monitor, by index, range or public key, such as 0-63,100,0xa1b2…; repeatable",
    parse: parseValidatorChoice,
  }),
  eth1: listFlag({
    name: "eth1",
    placeholder: "URL",
    description: "JSON-RPC of a node of the deposit chain; repeatable, later ones are failovers",
    parse: httpUrl,
  }),
  trackFutures: booleanFlag({
    name: "track-futures",
    description: "Track pending promises for debug_getChronosFutures; slows the node down",
  }),
  ...BUILDER_FLAGS,
  ...LIMIT_FLAGS,
  configFile: CONFIG_FILE_FLAG,
} as const satisfies FlagTable;
