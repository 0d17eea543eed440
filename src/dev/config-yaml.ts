import { type ChainConfig, chainConfigToJson } from "@lodestar/config";
import { ATTESTATION_SUBNET_COUNT } from "@lodestar/params";
import { loadYaml } from "../runtime/load-yaml.ts";

/** Constants quoted in the specification's configs/. */
const QUOTED = new Set(["PRESET_BASE", "CONFIG_NAME"]);

/** Constants that are missing from Lodestar's configuration but required in the file by other clients. */
const FIXED_VALUES = {
  ATTESTATION_SUBNET_COUNT: String(ATTESTATION_SUBNET_COUNT),
  ATTESTATION_SUBNET_EXTRA_BITS: "0",
};

/**
 * Serializes a configuration in the format of the specification's configs/. Numbers are not quoted, because some
 * clients parse a quoted number as a string.
 */
export function configYaml(config: ChainConfig): string {
  const values = Object.entries({ ...chainConfigToJson(config), ...FIXED_VALUES });
  return values.map(([key, value]) => `${key}: ${yamlValue(key, value)}\n`).join("");
}

function yamlValue(key: string, value: unknown): string {
  if (typeof value === "string") return QUOTED.has(key) ? `'${value}'` : value;
  if (!Array.isArray(value) || value.length === 0) return "[]";
  const text = loadYaml().stringify(value, { defaultStringType: "PLAIN" });
  return `\n${text.replace(/["']/g, "").replace(/^/gm, "  ").trimEnd()}`;
}
