import { type ChainConfig, chainConfigToJson } from "@lodestar/config";
import { ATTESTATION_SUBNET_COUNT } from "@lodestar/params";
import { loadYaml } from "../runtime/load-yaml.ts";

/** In the specification's configs/ these stand in quotation marks, everything else without them. */
const TEXTS = new Set(["PRESET_BASE", "CONFIG_NAME"]);

/** Values of the specification's configs/ that are fixed for the library, but which other clients look for. */
const FIXED_VALUES = {
  ATTESTATION_SUBNET_COUNT: String(ATTESTATION_SUBNET_COUNT),
  ATTESTATION_SUBNET_EXTRA_BITS: "0",
};

/**
 * A configuration as the specification's configs/ are written. Some clients take a number in quotation marks for a text,
 * so that only those values have them which are texts.
 */
export function configYaml(config: ChainConfig): string {
  const values = Object.entries({ ...chainConfigToJson(config), ...FIXED_VALUES });
  return values.map(([key, value]) => `${key}: ${yamlValue(key, value)}\n`).join("");
}

function yamlValue(key: string, value: unknown): string {
  if (typeof value === "string") return TEXTS.has(key) ? `'${value}'` : value;
  if (!Array.isArray(value) || value.length === 0) return "[]";
  const text = loadYaml().stringify(value, { defaultStringType: "PLAIN" });
  return `\n${text.replace(/["']/g, "").replace(/^/gm, "  ").trimEnd()}`;
}
