import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { blockRoot, deserializeSignedBlock } from "./block-encoding.ts";

/**
 * The block whose bytes lie under a root. LevelDB gives bytes back as it finds them, so only the hash tells whether they are
 * those of the block. Throws a `DatabaseCorruptError`.
 */
export function readStoredBlock(
  { config, db }: { config: BeaconConfig; db: { path: string } },
  root: RootHex,
  bytes: Uint8Array,
): SignedBeaconBlock {
  const signed = deserialize(config, bytes);
  if (signed === undefined) throw new DatabaseCorruptError(db.path, `the block ${root} cannot be read`);
  const found = blockRoot(config, signed.message);
  if (found !== root) throw new DatabaseCorruptError(db.path, `the block under the root ${root} has the root ${found}`);
  return signed;
}

function deserialize(config: BeaconConfig, bytes: Uint8Array): SignedBeaconBlock | undefined {
  try {
    return deserializeSignedBlock(config, bytes);
  } catch {
    return undefined;
  }
}
