import { BeaconDb } from "./beacon-db.ts";
import { DatabaseSchemaError } from "./errors.ts";
import { type CheckProgress, checkFiles } from "./files/check-files.ts";
import { LevelStore, type StoreOptions } from "./level/level-store.ts";

/** Raise on every change that makes older versions misread the database. */
export const SCHEMA_VERSION = 2;

/** Older version that is read as is. It has no snapshots stored as patches. */
const OLDER_READABLE_VERSION = 1;

/** Limit on bulk tables checked at start-up, which takes a second or two. */
const BULK_BYTES_AT_START = 2 ** 28;

interface OpenOptions extends StoreOptions {
  /** Called if the last write before a crash was incomplete. */
  onTornWrite?(tornBytes: number): void;
  /** Reports progress of the file check. */
  onCheck?(done: CheckProgress): void;
}

/** Opens the database in a directory and creates it if missing. A damaged database is not changed. */
export async function openDatabase(path: string, { onTornWrite, onCheck, ...options }: OpenOptions): Promise<BeaconDb> {
  await LevelStore.requireUnused(path);
  const { tornBytes } = await checkFiles(path, { bulkBytes: BULK_BYTES_AT_START, onProgress: onCheck });
  if (tornBytes > 0) onTornWrite?.(tornBytes);
  const store = await LevelStore.open(path, options);
  try {
    const db = new BeaconDb(store);
    await checkSchema(db, store);
    await store.mergeLayers();
    return db;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Creates an empty database in memory. The path locates files beside it, such as dumps. */
export async function createMemoryDatabase(path: string): Promise<BeaconDb> {
  const db = new BeaconDb(LevelStore.inMemory(path));
  await upgradeSchema(db);
  return db;
}

/** Writes the schema version into a new database. Rejects an unsupported one without writing. */
async function checkSchema(db: BeaconDb, store: LevelStore): Promise<void> {
  const found = await db.meta.getSchemaVersion();
  if (found === SCHEMA_VERSION || found === OLDER_READABLE_VERSION) return;
  if (found !== null || !(await store.isEmpty())) throw new DatabaseSchemaError(store.path, found, SCHEMA_VERSION);
  await upgradeSchema(db);
}

/**
 * Marks a database of an older version as current; the older version can no longer open it. Call it before the first
 * write of a chain. Read-only commands must not call it.
 */
export async function upgradeSchema(db: BeaconDb): Promise<void> {
  if ((await db.meta.getSchemaVersion()) === SCHEMA_VERSION) return;
  const batch = db.batch();
  batch.meta.putSchemaVersion(SCHEMA_VERSION);
  await batch.write();
}
