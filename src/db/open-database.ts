import { BeaconDb } from "./beacon-db.ts";
import { DatabaseSchemaError } from "./errors.ts";
import { type CheckProgress, checkFiles } from "./files/check-files.ts";
import { LevelStore, type StoreOptions } from "./level-store.ts";

/** To be raised with every change after which older programs would misread the database. */
export const SCHEMA_VERSION = 2;

/** What this program reads as it is, although an older one wrote it: version 1 has no states that are patches of others. */
const OLDER_READABLE_VERSION = 1;

/** Of tables with nothing but blocks or states this much is read at a start, which takes a second or two. */
const BULK_BYTES_AT_START = 2 ** 28;

interface OpenOptions extends StoreOptions {
  /** Told when a crash had cut the last write short. */
  onTornWrite?(tornBytes: number): void;
  /** Told how far the check of the files is. */
  onCheck?(done: CheckProgress): void;
}

/** Opens the database in a directory, which is created when there is none. One that is damaged is left as it is. */
export async function openDatabase(path: string, { onTornWrite, onCheck, ...options }: OpenOptions): Promise<BeaconDb> {
  await LevelStore.requireUnused(path);
  const { tornBytes } = await checkFiles(path, { bulkBytes: BULK_BYTES_AT_START, onProgress: onCheck });
  if (tornBytes > 0) onTornWrite?.(tornBytes);
  const store = await LevelStore.open(path, options);
  try {
    const db = new BeaconDb(store);
    await settleSchema(db, store);
    await store.mergeLayers();
    return db;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Marks a new database with the schema version, and refuses, without a write, one that cannot be read. */
async function settleSchema(db: BeaconDb, store: LevelStore): Promise<void> {
  const found = await db.meta.getSchemaVersion();
  if (found === SCHEMA_VERSION || found === OLDER_READABLE_VERSION) return;
  if (found !== null || !(await store.isEmpty())) throw new DatabaseSchemaError(store.path, found, SCHEMA_VERSION);
  await raiseSchema(db);
}

/**
 * Marks a database that an older program wrote as one of this program, after which the older one does not open it any more. Has to be
 * done before a chain is written to it, and not before, so that whoever only looked into it can go back.
 */
export async function raiseSchema(db: BeaconDb): Promise<void> {
  if ((await db.meta.getSchemaVersion()) === SCHEMA_VERSION) return;
  const batch = db.batch();
  batch.meta.putSchemaVersion(SCHEMA_VERSION);
  await batch.write();
}
