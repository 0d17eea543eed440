import { readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { NamedNetwork } from "../../node/chain-source/network-config.ts";
import { loadYaml } from "../../runtime/load-yaml.ts";
import { StartupError, usageError } from "../exit.ts";
import { didYouMean } from "./did-you-mean.ts";

export type PresetName = "mainnet" | "minimal" | "gnosis";
const PRESETS: readonly PresetName[] = ["mainnet", "minimal", "gnosis"];

/**
 * The networks @lodestar/config knows, with the preset of each. They are repeated here because the preset has to be chosen
 * before that package is loaded: loading it fixes the preset for the whole process.
 */
export const BUILT_IN_NETWORKS: Readonly<Record<string, PresetName>> = {
  mainnet: "mainnet",
  sepolia: "mainnet",
  hoodi: "mainnet",
  ephemery: "mainnet",
  gnosis: "gnosis",
  chiado: "gnosis",
};

/** The network a node joins and the preset its chain is made with. */
export interface Network extends NamedNetwork {
  preset: PresetName;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** `PRESET_BASE` of a network's `config.yaml` (consensus specs, configs/README.md). */
function readPresetBase(configFile: string): PresetName {
  let config: unknown;
  try {
    config = loadYaml().parse(readFileSync(configFile, "utf8"), { schema: "failsafe" });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new StartupError("unreadableInput", `The network file ${configFile} cannot be read: ${reason}.`, error);
  }
  const named =
    typeof config === "object" && config !== null ? (config as Record<string, unknown>).PRESET_BASE : undefined;
  const preset = PRESETS.find((candidate) => candidate === named);
  if (preset === undefined) {
    const found = named === undefined ? "names no PRESET_BASE" : `has the PRESET_BASE ${JSON.stringify(named)}`;
    throw new StartupError(
      "unreadableInput",
      `The network file ${configFile} ${found}; it must be mainnet, minimal or gnosis.`,
    );
  }
  return preset;
}

/** A network is given by its name, or by a directory that holds its `config.yaml`; the name wins where both would fit. */
export function resolveNetwork(text: string, workingDirectory: string): Network {
  const preset = Object.hasOwn(BUILT_IN_NETWORKS, text) ? BUILT_IN_NETWORKS[text] : undefined;
  if (preset !== undefined) return { name: text, directory: undefined, preset };

  const directory = resolve(workingDirectory, text);
  if (!isDirectory(directory)) {
    const names = Object.keys(BUILT_IN_NETWORKS);
    throw usageError(
      `"${text}" is neither a network that is built in (${names.join(", ")}) nor a directory.${didYouMean(text, names)}`,
    );
  }
  return { name: basename(directory), directory, preset: readPresetBase(join(directory, "config.yaml")) };
}
