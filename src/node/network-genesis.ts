import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { genesisData } from "@lodestar/config/networks";
import { ZERO_HASH_HEX } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import type { NamedNetwork } from "./network-config.ts";

/** What tells the chain of a network from every other. */
export interface GenesisIdentity {
  genesisTime: number;
  genesisValidatorsRoot: string;
}

/** SSZ of BeaconState begins with the genesis time (8 bytes) and the genesis validators root (32). */
const IDENTITY_BYTES = 40;

/** Where a network's directory holds its genesis state; undefined when it holds none. */
export function bundledGenesis({ directory }: NamedNetwork): string | undefined {
  if (directory === undefined) return undefined;
  const file = join(directory, "genesis.ssz");
  return existsSync(file) ? file : undefined;
}

/** The genesis of the network as far as it is known without being told: built in, or in the network's directory. */
export function knownGenesis(network: NamedNetwork): GenesisIdentity | undefined {
  if (network.directory === undefined) {
    const builtIn = genesisData[network.name as keyof typeof genesisData];
    // A network that starts over every few weeks has no genesis that could be built in.
    return builtIn.genesisValidatorsRoot === ZERO_HASH_HEX ? undefined : builtIn;
  }
  const file = bundledGenesis(network);
  return file === undefined ? undefined : readIdentity(file);
}

/** A file too short to say anything is left to whoever reads the whole state to complain about. */
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

/** What differs, as the end of a sentence; undefined when both are of the same chain. */
export function genesisDifference(found: GenesisIdentity, expected: GenesisIdentity): string | undefined {
  if (found.genesisValidatorsRoot !== expected.genesisValidatorsRoot) {
    return `its genesis validators root is ${found.genesisValidatorsRoot}, not ${expected.genesisValidatorsRoot}`;
  }
  if (found.genesisTime !== expected.genesisTime) {
    return `its genesis time is ${found.genesisTime}, not ${expected.genesisTime}`;
  }
  return undefined;
}
