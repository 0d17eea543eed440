import type { ValidatorIndex } from "@lodestar/types";
import type { DevIdentity } from "../../../dev/identity.ts";
import type { DevGenesisSettings } from "../../../dev/settings.ts";
import { usageError } from "../../exit.ts";
import type { FlagValues } from "../flag.ts";
import { type DevPreset, devGenesis } from "./dev-genesis.ts";
import type { DEV_KEYS_FLAGS } from "./dev-keys-flags.ts";
import { devDataDir } from "./dev-settings.ts";
import { listedValidators } from "./validator-list.ts";

const MAX_KEYS = 100_000;

/** Settings of `fanal dev keys`. */
export interface DevKeysSettings extends DevGenesisSettings {
  preset: DevPreset;
  dataDir: string;
  /** Undefined for all genesis validators. */
  indices: readonly ValidatorIndex[] | undefined;
}

/** Converts flags to settings. Genesis settings default to those of the stored chain. */
export function devKeysSettings(
  values: FlagValues<typeof DEV_KEYS_FLAGS>,
  workingDirectory: string,
  stored: DevIdentity | null,
): DevKeysSettings {
  const others = { el: [], eth1: [], devBlobs: { min: 0, max: 0 }, speed: 1 };
  const { indices: list } = values;
  const count = list === "all" ? 0 : list.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  if (count > MAX_KEYS) throw usageError(`--indices has ${count} validators, but at most ${MAX_KEYS} are exported.`);
  return {
    ...devGenesis({ ...values, ...others }, stored, workingDirectory),
    dataDir: devDataDir(values, workingDirectory),
    indices: listedValidators(list, Number.POSITIVE_INFINITY, "--indices"),
  };
}
