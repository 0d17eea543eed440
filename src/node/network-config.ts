import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ChainConfig, chainConfigFromJson, createChainConfig } from "@lodestar/config";
import { networksChainConfig } from "@lodestar/config/networks";
import { loadYaml } from "../runtime/load-yaml.ts";
import { StartError } from "./start-error.ts";

/** The network whose chain a node follows. */
export interface NamedNetwork {
  /** A name known to @lodestar/config, or the last part of the directory's path. */
  name: string;
  /** The absolute path of the directory that describes the network; undefined for a network that is built in. */
  directory: string | undefined;
}

/** The run-time configuration of a network: built in, or read from the directory's `config.yaml`. */
export function loadNetworkConfig({ name, directory }: NamedNetwork): ChainConfig {
  if (directory === undefined) return networksChainConfig[name as keyof typeof networksChainConfig];
  return readConfigFile(directory, createChainConfig);
}

/** What is made of the constants that the `config.yaml` of a directory names. */
export function readConfigFile<T>(directory: string, make: (named: Partial<ChainConfig>) => T): T {
  const file = join(directory, "config.yaml");
  try {
    // Values stay text: a number in YAML would lose the digits of a version such as 0x00000001.
    const json = loadYaml().parse(readFileSync(file, "utf8"), { schema: "failsafe" }) as Record<string, unknown>;
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
