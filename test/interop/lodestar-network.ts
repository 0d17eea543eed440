import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BeaconRest } from "./beacon-rest.ts";

/** Writes a network directory from the API of a running node: settings and genesis state. Returns its path. */
export async function writeNetworkOf(rest: BeaconRest, directory: string): Promise<string> {
  const settings = await rest.get<Record<string, unknown>>("/eth/v1/config/spec");
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "config.yaml"), lines.join(""));
  writeFileSync(join(directory, "genesis.ssz"), await rest.bytes("/eth/v2/debug/beacon/states/genesis"));
  return directory;
}
