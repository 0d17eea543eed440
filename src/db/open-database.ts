import { BeaconDb } from "./beacon-db.ts";
import { DatabaseSchemaError } from "./errors.ts";
import { type CheckProgress, checkFiles } from "./files/check-files.ts";
import { LevelStore, type StoreOptions } from "./level/level-store.ts";

/** Increase this with every change that would make older versions misread the database. */
export const SCHEMA_VERSION = 2;

/** Older version that can be read as is. Its snapshots are never stored as patches. */
const OLDER_READABLE_VERSION = 1;

/** Maximum number of bytes to check in bulk tables at start-up. The check takes a second or two. */
const BULK_BYTES_AT_START = 2 ** 28;

interface OpenOptions extends StoreOptions {
  /** Called if the last write before a crash was incomplete. */
  onTornWrite?(tornBytes: number): void;
  /** Reports progress of the file check. */
  onCheck?(done: CheckProgress): void;
}

/** Opens the database in a directory, creating it if missing. Leaves a damaged database unchanged. */
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

/** Creates an empty in-memory database. The path determines where accompanying files, such as dumps, are stored. */
export async function createMemoryDatabase(path: string): Promise<BeaconDb> {
  const db = new BeaconDb(LevelStore.inMemory(path));
  await upgradeSchema(db);
  return db;
}

/** Writes the schema version into a new database. Rejects an unsupported version without writing. */
async function checkSchema(db: BeaconDb, store: LevelStore): Promise<void> {
  const version = await db.meta.getSchemaVersion();
  if (version === SCHEMA_VERSION || version === OLDER_READABLE_VERSION) return;
  if (version !== null || !(await store.isEmpty())) throw new DatabaseSchemaError(store.path, version, SCHEMA_VERSION);
  await upgradeSchema(db);
}

/**
 * Marks a database with an older schema version as current, after which the older version can no longer open it. Call
 * this before a chain's first write. Read-only commands must not call it.
 */
export async function upgradeSchema(db: BeaconDb): Promise<void> {
  if ((await db.meta.getSchemaVersion()) === SCHEMA_VERSION) return;
  const batch = db.batch();
  batch.meta.putSchemaVersion(SCHEMA_VERSION);
  await batch.write();
}
