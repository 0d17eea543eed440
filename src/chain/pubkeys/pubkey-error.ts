import { BadPubkeyError } from "../../bls/read-key.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";

/**
 * Converts a `BadPubkeyError` to a `DatabaseCorruptError`, since no valid transition adds an invalid public key to a
 * state. Returns other errors unchanged.
 */
export function asDatabaseError(error: unknown, db: BeaconDb): unknown {
  return error instanceof BadPubkeyError ? new DatabaseCorruptError(db.path, error) : error;
}
