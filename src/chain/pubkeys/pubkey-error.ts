import { BadPubkeyError } from "../../bls/read-key.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";

/**
 * Converts a `BadPubkeyError` to a `DatabaseCorruptError`: no valid transition produces an invalid public key in a
 * state. Returns other errors unchanged.
 */
export function asDatabaseError(error: unknown, db: BeaconDb): unknown {
  return error instanceof BadPubkeyError ? new DatabaseCorruptError(db.path, error) : error;
}
