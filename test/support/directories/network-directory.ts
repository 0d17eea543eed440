import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChainConfig, chainConfigToJson } from "@lodestar/config";
import { stringify } from "yaml";

/** Creates a network directory with configuration and genesis state, as public networks have. */
export function writeNetworkDirectory(directory: string, config: ChainConfig, genesis?: Uint8Array): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "config.yaml"), stringify(chainConfigToJson(config)));
  if (genesis) writeFileSync(join(directory, "genesis.ssz"), genesis);
  return directory;
}
