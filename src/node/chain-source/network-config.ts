import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ChainConfig, chainConfigFromJson, createChainConfig } from "@lodestar/config";
import { networksChainConfig } from "@lodestar/config/networks";
import { parseYaml } from "../../runtime/load-yaml.ts";
import { StartError } from "../start-error.ts";

/** A network by name or directory. */
export interface NamedNetwork {
  /** Name of a built-in network, or the base name of the directory. */
  name: string;
  /** Absolute path of the network directory. Undefined for a built-in network. */
  directory: string | undefined;
}

/** Forks that were scheduled after the release of the library. */
const LATER_SCHEDULES: Readonly<Record<string, Partial<ChainConfig>>> = {
  // ethereum/pm#2205
  sepolia: { GLOAS_FORK_EPOCH: 353_024 },
};

/** Loads the configuration of a network, either built in or from `config.yaml` in its directory. */
export function loadNetworkConfig({ name, directory }: NamedNetwork): ChainConfig {
  if (directory === undefined) {
    return { ...networksChainConfig[name as keyof typeof networksChainConfig], ...LATER_SCHEDULES[name] };
  }
  return readConfigFile(directory, createChainConfig);
}

/** Reads the constants in a directory's `config.yaml` and converts them with `make`. */
export function readConfigFile<T>(directory: string, make: (named: Partial<ChainConfig>) => T): T {
  const file = join(directory, "config.yaml");
  try {
    // Keep values as text: as a YAML number, a version such as 0x00000001 would lose digits.
    const json = parseYaml(readFileSync(file, "utf8")) as Record<string, unknown>;
    const config = chainConfigFromJson(json);
    for (const [key, value] of Object.entries(config)) {
      if (Number.isNaN(value)) throw new Error(`the value ${JSON.stringify(json[key])} of ${key} is not a number`);
    }
    return make(config);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError("unreadableInput", `The network file ${file} cannot be used: ${reason}.`, error);
  }
}
