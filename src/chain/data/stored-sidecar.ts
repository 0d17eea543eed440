import type { RootHex } from "@lodestar/types";
import { blockRootOfSidecar, type DataSidecar, deserializeSidecar } from "../../data/sidecar.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";

interface SidecarPlace {
  root: RootHex;
  index: number;
}

/** The sidecar whose bytes lie under the root of a block and an index. Throws a `DatabaseCorruptError` when they are of another. */
export function readStoredSidecar(db: { path: string }, { root, index }: SidecarPlace, bytes: Uint8Array): DataSidecar {
  const sidecar = deserialize(bytes);
  if (!sidecar) throw new DatabaseCorruptError(db.path, `sidecar ${index} of the block ${root} cannot be read`);
  const found = blockRootOfSidecar(sidecar);
  if (found === root && sidecar.index === index) return sidecar;
  throw new DatabaseCorruptError(
    db.path,
    `in the place of sidecar ${index} of the block ${root} is sidecar ${sidecar.index} of the block ${found}`,
  );
}

function deserialize(bytes: Uint8Array): DataSidecar | undefined {
  try {
    return deserializeSidecar(bytes);
  } catch {
    return undefined;
  }
}
