import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { genesisData } from "@lodestar/config/networks";
import { ZERO_HASH_HEX } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import type { NamedNetwork } from "./network-config.ts";

/** Identifies the chain of a network. */
export interface GenesisIdentity {
  genesisTime: number;
  genesisValidatorsRoot: string;
}

/** SSZ of BeaconState begins with the genesis time (8 bytes) and the genesis validators root (32). */
const IDENTITY_BYTES = 40;

/** Returns the path of `genesis.ssz` in the network directory, if it exists. */
export function genesisStateFile({ directory }: NamedNetwork): string | undefined {
  if (directory === undefined) return undefined;
  const file = join(directory, "genesis.ssz");
  return existsSync(file) ? file : undefined;
}

/** Returns the genesis of a network from built-in data or its directory, or undefined if unknown. */
export function knownGenesis(network: NamedNetwork): GenesisIdentity | undefined {
  if (network.directory === undefined) {
    const builtIn = genesisData[network.name as keyof typeof genesisData];
    // Ephemeral networks restart every few weeks and have no built-in genesis.
    return builtIn.genesisValidatorsRoot === ZERO_HASH_HEX ? undefined : builtIn;
  }
  const file = genesisStateFile(network);
  return file === undefined ? undefined : readIdentity(file);
}

/** Returns undefined for a truncated file: loading the whole state reports it. */
function readIdentity(file: string): GenesisIdentity | undefined {
  const bytes = new Uint8Array(IDENTITY_BYTES);
  const descriptor = openSync(file, "r");
  try {
    if (readSync(descriptor, bytes, 0, IDENTITY_BYTES, 0) < IDENTITY_BYTES) return undefined;
  } finally {
    closeSync(descriptor);
  }
  const genesisTime = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  return { genesisTime, genesisValidatorsRoot: toRootHex(bytes.subarray(8)) };
}

/** Describes the difference as the end of a sentence, or returns undefined for the same chain. */
export function genesisDifference(found: GenesisIdentity, expected: GenesisIdentity): string | undefined {
  if (found.genesisValidatorsRoot !== expected.genesisValidatorsRoot) {
    return `its genesis validators root is ${found.genesisValidatorsRoot}, not ${expected.genesisValidatorsRoot}`;
  }
  if (found.genesisTime !== expected.genesisTime) {
    return `its genesis time is ${found.genesisTime}, not ${expected.genesisTime}`;
  }
  return undefined;
}
