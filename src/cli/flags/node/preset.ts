import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { NamedNetwork } from "../../../node/chain-source/network-config.ts";
import { parseYaml } from "../../../runtime/load-yaml.ts";
import { StartupError, usageError } from "../../exit.ts";
import { didYouMean } from "../did-you-mean.ts";
import { isNetworkDirectory, shownNetwork } from "../network-directory.ts";

export type PresetName = "mainnet" | "minimal" | "gnosis";
const PRESETS: readonly PresetName[] = ["mainnet", "minimal", "gnosis"];

/**
 * Networks known to @lodestar/config, with their presets. Duplicated here because importing that package fixes the
 * process's preset.
 */
export const BUILT_IN_NETWORKS: Readonly<Record<string, PresetName>> = {
  mainnet: "mainnet",
  sepolia: "mainnet",
  hoodi: "mainnet",
  ephemery: "mainnet",
  gnosis: "gnosis",
  chiado: "gnosis",
};

/** Network and its preset. */
export interface Network extends NamedNetwork {
  preset: PresetName;
}

/** Reads `PRESET_BASE` from a network's `config.yaml` (consensus specs, configs/README.md). */
function readPresetBase(configFile: string): PresetName {
  let config: unknown;
  try {
    config = parseYaml(readFileSync(configFile, "utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    throw new StartupError("unreadableInput", `The network file ${configFile} cannot be read: ${reason}.`, error);
  }
  const presetBase =
    typeof config === "object" && config !== null ? (config as Record<string, unknown>).PRESET_BASE : undefined;
  const preset = PRESETS.find((candidate) => candidate === presetBase);
  if (preset === undefined) {
    const problem =
      presetBase === undefined ? "has no PRESET_BASE" : `has the PRESET_BASE ${JSON.stringify(presetBase)}`;
    throw new StartupError(
      "unreadableInput",
      `The network file ${configFile} ${problem}; it must be mainnet, minimal or gnosis.`,
    );
  }
  return preset;
}

/** Resolves a built-in network name, or a directory with `config.yaml`. Built-in names take precedence. */
export function resolveNetwork(text: string, workingDirectory: string): Network {
  const preset = Object.hasOwn(BUILT_IN_NETWORKS, text) ? BUILT_IN_NETWORKS[text] : undefined;
  if (preset !== undefined) return { name: text, directory: undefined, preset };

  const directory = resolve(workingDirectory, text);
  if (!isNetworkDirectory(directory)) {
    const names = Object.keys(BUILT_IN_NETWORKS);
    throw usageError(
      `Unknown network ${shownNetwork(text)}: neither a built-in name (${names.join(", ")}) nor a directory.` +
        didYouMean(text, names),
    );
  }
  return { name: basename(directory), directory, preset: readPresetBase(join(directory, "config.yaml")) };
}
