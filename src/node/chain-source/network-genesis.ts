import { existsSync } from "node:fs";
import { join } from "node:path";
import { genesisData } from "@lodestar/config/networks";
import { ZERO_HASH_HEX } from "@lodestar/params";
import { type GenesisIdentity, readGenesisIdentity } from "./genesis-file.ts";
import type { NamedNetwork } from "./network-config.ts";

/** Returns the path of `genesis.ssz` in the network directory, if it exists. */
export function genesisStateFile({ directory }: NamedNetwork): string | undefined {
  if (directory === undefined) return undefined;
  const file = join(directory, "genesis.ssz");
  return existsSync(file) ? file : undefined;
}

/** Returns the genesis of a network from built-in data or its directory; undefined if unknown. */
export function knownGenesis(network: NamedNetwork): GenesisIdentity | undefined {
  if (network.directory === undefined) {
    const builtIn = genesisData[network.name as keyof typeof genesisData];
    // Ephemeral networks restart every few weeks and have no built-in genesis.
    return builtIn.genesisValidatorsRoot === ZERO_HASH_HEX ? undefined : builtIn;
  }
  const file = genesisStateFile(network);
  return file === undefined ? undefined : readGenesisIdentity(file);
}

/** Returns the difference, phrased as the end of a sentence, or undefined for the same chain. */
export function genesisDifference(found: GenesisIdentity, expected: GenesisIdentity): string | undefined {
  if (found.genesisValidatorsRoot !== expected.genesisValidatorsRoot) {
    return `its genesis validators root is ${found.genesisValidatorsRoot}, not ${expected.genesisValidatorsRoot}`;
  }
  if (found.genesisTime !== expected.genesisTime) {
    return `its genesis time is ${found.genesisTime}, not ${expected.genesisTime}`;
  }
  return undefined;
}
