import type { RootHex } from "@lodestar/types";
import { blockRootOfSidecar, type DataSidecar, deserializeSidecar } from "../../data/sidecar.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";

interface SidecarIdentifier {
  root: RootHex;
  index: number;
}

/** Reads a stored sidecar; null if there is none. Throws a `DatabaseCorruptError` if it is damaged. */
export async function storedSidecar(db: BeaconDb, id: SidecarIdentifier): Promise<DataSidecar | null> {
  const bytes = await db.data.get(id.root, id.index);
  return bytes && readStoredSidecar(db, id, bytes);
}

/** Decodes a stored sidecar. Throws a `DatabaseCorruptError` if it does not match its block root and index. */
export function readStoredSidecar(
  db: { path: string },
  { root, index }: SidecarIdentifier,
  bytes: Uint8Array,
): DataSidecar {
  const sidecar = deserialize(bytes);
  if (!sidecar) throw new DatabaseCorruptError(db.path, `sidecar ${index} of block ${root} cannot be decoded`);
  const actualRoot = blockRootOfSidecar(sidecar);
  if (actualRoot === root && sidecar.index === index) return sidecar;
  throw new DatabaseCorruptError(
    db.path,
    `sidecar ${index} of block ${root} is stored as sidecar ${sidecar.index} of block ${actualRoot}`,
  );
}

function deserialize(bytes: Uint8Array): DataSidecar | undefined {
  try {
    return deserializeSidecar(bytes);
  } catch {
    return undefined;
  }
}
