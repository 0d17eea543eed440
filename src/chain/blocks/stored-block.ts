import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { blockRoot, deserializeSignedBlock } from "./block-encoding.ts";

/**
 * Decodes a stored block and verifies its root, because LevelDB does not verify values on read. Throws a
 * `DatabaseCorruptError`.
 */
export function readStoredBlock(
  { config, db }: { config: BeaconConfig; db: { path: string } },
  root: RootHex,
  bytes: Uint8Array,
): SignedBeaconBlock {
  const signed = deserialize(config, bytes);
  if (signed === undefined) throw new DatabaseCorruptError(db.path, `block ${root} cannot be decoded`);
  const actualRoot = blockRoot(config, signed.message);
  if (actualRoot !== root)
    throw new DatabaseCorruptError(db.path, `the block stored under root ${root} has root ${actualRoot}`);
  return signed;
}

function deserialize(config: BeaconConfig, bytes: Uint8Array): SignedBeaconBlock | undefined {
  try {
    return deserializeSignedBlock(config, bytes);
  } catch {
    return undefined;
  }
}
