import { closeSync, openSync, readSync } from "node:fs";

/** Identifies the chain of a network. */
export interface GenesisIdentity {
  genesisTime: number;
  genesisValidatorsRoot: string;
}

/** The SSZ of BeaconState begins with the genesis time (8 bytes) and the genesis validators root (32). */
const IDENTITY_BYTES = 40;

/** Reads the start of a genesis state, independently of the preset. Returns undefined for a truncated file. */
export function readGenesisIdentity(file: string): GenesisIdentity | undefined {
  const bytes = Buffer.alloc(IDENTITY_BYTES);
  const descriptor = openSync(file, "r");
  try {
    if (readSync(descriptor, bytes, 0, IDENTITY_BYTES, 0) < IDENTITY_BYTES) return undefined;
  } finally {
    closeSync(descriptor);
  }
  return {
    genesisTime: Number(bytes.readBigUInt64LE(0)),
    genesisValidatorsRoot: `0x${bytes.toString("hex", 8)}`,
  };
}
