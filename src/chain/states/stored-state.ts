import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import type { StatePosition } from "../../db/repositories/state-repositories.ts";
import { latestBlockHeader } from "../anchor/anchor.ts";
import { type OnRead, readState } from "./read-state.ts";

/**
 * Reads the state stored at a position; null if there is none. Throws a `DatabaseCorruptError` if the state does not
 * match.
 */
export async function readSnapshot(
  stored: { config: BeaconConfig; db: Pick<BeaconDb, "path" | "snapshots" | "stateIndex"> },
  position: StatePosition,
  onRead?: OnRead,
): Promise<BeaconStateAllForks | null> {
  const bytes = await stored.db.snapshots.get(position.slot, position.blockRoot);
  return bytes && readStoredState(stored, position, bytes, onRead);
}

/**
 * Decodes a stored state. Verifies a post-state against its block root and an advanced state against the state index.
 * Throws a `DatabaseCorruptError` if the state does not match.
 */
async function readStoredState(
  { config, db }: { config: BeaconConfig; db: Pick<BeaconDb, "path" | "stateIndex"> },
  { slot, blockRoot }: StatePosition,
  bytes: Uint8Array,
  onRead?: OnRead,
): Promise<BeaconStateAllForks> {
  const state = await readState(config.getForkTypes(slot).BeaconState, bytes, onRead).catch(() => undefined);
  if (state === undefined) throw new DatabaseCorruptError(db.path, `the state of slot ${slot} cannot be read`);
  const header = latestBlockHeader(state);
  const isAfterBlock = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header)) === blockRoot;
  if (isAfterBlock && state.slot === slot) {
    if (header.slot === slot) return state;
    const indexed = await db.stateIndex.get(state.hashTreeRoot());
    if (indexed?.slot === slot && indexed.blockRoot === blockRoot) return state;
  }
  throw new DatabaseCorruptError(db.path, `the state of slot ${slot} does not match block ${blockRoot}`);
}
