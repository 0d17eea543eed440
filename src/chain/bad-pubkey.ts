import { BadPubkeyError } from "../bls/read-key.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DatabaseCorruptError } from "../db/errors.ts";

/** No transition leads to a state with a public key that is none, so that it must be the database's fault. Other errors stay as they are. */
export function blamedOnDatabase(error: unknown, db: BeaconDb): unknown {
  return error instanceof BadPubkeyError ? new DatabaseCorruptError(db.path, error) : error;
}
