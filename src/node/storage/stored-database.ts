import { existsSync, statSync } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { BeaconDb } from "../../db/beacon-db.ts";
import { type CheckedFiles, checkFiles, type FileCheckOptions } from "../../db/files/check-files.ts";
import { type SalvageResult, salvageDatabase } from "../../db/files/salvage.ts";
import { Bucket } from "../../db/keys.ts";
import { LevelStore } from "../../db/level/level-store.ts";
import { openDatabase, SCHEMA_VERSION } from "../../db/open-database.ts";
import { type DevIdentity, isDevIdentity } from "../../dev/identity.ts";
import type { Logger } from "../../log/logger.ts";
import { StartError } from "../start-error.ts";
import { asStartError, databasePath, dataDirError, openDataDirectory, rejectDanglingLink } from "./data-directory.ts";

// Must not import code that depends on the preset, since the identity of a database may determine the preset.

/** Opens an existing database. Throws a `StartError` if there is none. */
export async function openStoredDatabase(dataDir: string): Promise<BeaconDb> {
  requireDatabase(dataDir);
  return openDataDirectory(dataDir, { sync: true });
}

/** Reads the identity of the stored chain. Returns null if there is no database or no chain. */
async function readStoredIdentity(dataDir: string, logger: Logger): Promise<unknown> {
  if (!hasDatabase(dataDir)) return null;
  const db = await openDataDirectory(dataDir, { sync: true, logger });
  try {
    return await db.meta.getIdentity();
  } finally {
    await db.close();
  }
}

/** Reads the parameters of the stored dev chain. Returns null if there is none. */
export async function readStoredDevChain(dataDir: string, logger: Logger): Promise<DevIdentity | null> {
  const identity = await readStoredIdentity(dataDir, logger);
  return isDevIdentity(identity) ? identity : null;
}

/** Checks all database files. The database must not be in use. Throws a `StartError` if it is damaged. */
export async function checkStoredFiles(
  dataDir: string,
  onProgress: FileCheckOptions["onProgress"],
): Promise<CheckedFiles> {
  requireDatabase(dataDir);
  return withStartErrors(dataDir, async () => {
    await LevelStore.requireUnused(databasePath(dataDir));
    return checkFiles(databasePath(dataDir), { bulkBytes: Number.POSITIVE_INFINITY, onProgress });
  });
}

/** A salvaged database that can replace the original. Disposing deletes it unless it was swapped in. */
export interface ReplacementDatabase extends AsyncDisposable {
  db: BeaconDb;
  salvaged: SalvageResult;
  /** Renames the original with a suffix and moves this database to its path. Returns the new path of the original. */
  swapIn(suffix: "damaged" | "original"): Promise<string>;
}

/** Copies the readable part of a database to a new one next to it. */
export async function salvageStoredDatabase(dataDir: string): Promise<ReplacementDatabase> {
  requireDatabase(dataDir);
  const damaged = databasePath(dataDir);
  const replacement = `${damaged}.new`;
  return withStartErrors(dataDir, async () => {
    await LevelStore.requireUnused(damaged);
    await rm(replacement, { recursive: true, force: true });
    try {
      const salvaged = await salvageDatabase(damaged, replacement);
      const db = await openDatabase(replacement, { sync: true });
      return {
        db,
        salvaged,
        async swapIn(suffix) {
          await db.close();
          const aside = unusedPath(`${damaged}.${suffix}`);
          await rename(damaged, aside);
          await rename(replacement, damaged);
          return aside;
        },
        async [Symbol.asyncDispose]() {
          await db.close();
          await rm(replacement, { recursive: true, force: true });
        },
      };
    } catch (error) {
      await rm(replacement, { recursive: true, force: true });
      throw error;
    }
  });
}

/** A damaged database that was moved aside. Disposing restores it unless it was removed. */
interface MovedAside extends AsyncDisposable {
  remove(): Promise<void>;
}

/**
 * Moves a damaged dev chain database aside, so that a new chain can be created. Returns undefined if it is not damaged.
 */
export async function moveDamagedDevChainAside(dataDir: string, logger: Logger): Promise<MovedAside | undefined> {
  const damage = await damageOf(dataDir, logger);
  if (!damage) return undefined;
  // A public network's chain may have taken days to sync. A database without an identity cannot be repaired anyway.
  if (!(await withStartErrors(dataDir, () => mayBeDevChain(databasePath(dataDir))))) throw damage;
  logger.notice("Database damaged, starting a new dev chain", { reason: damage.message });
  const damaged = databasePath(dataDir);
  const aside = unusedPath(`${damaged}.damaged`);
  await rename(damaged, aside);
  let isAside = true;
  return {
    async remove() {
      await rm(aside, { recursive: true, force: true });
      isAside = false;
    },
    async [Symbol.asyncDispose]() {
      if (!isAside) return;
      await rm(damaged, { recursive: true, force: true });
      await rename(aside, damaged);
    },
  };
}

async function damageOf(dataDir: string, logger: Logger): Promise<StartError | undefined> {
  try {
    await readStoredIdentity(dataDir, logger);
    return undefined;
  } catch (error) {
    if (error instanceof StartError && error.kind === "dataDirDamaged") return error;
    throw error;
  }
}

/** Returns true unless the readable part of a damaged database belongs to a chain that is not a dev chain. */
async function mayBeDevChain(damaged: string): Promise<boolean> {
  const readable = `${damaged}.new`;
  await rm(readable, { recursive: true, force: true });
  try {
    await salvageDatabase(damaged, readable, Bucket.meta);
    const store = await LevelStore.open(readable, { sync: false });
    try {
      const { meta } = new BeaconDb(store);
      const identity = await meta.getIdentity();
      const schemaVersion = (await meta.getSchemaVersion()) ?? SCHEMA_VERSION;
      return schemaVersion <= SCHEMA_VERSION && (identity === null || isDevIdentity(identity));
    } finally {
      await store.close();
    }
  } finally {
    await rm(readable, { recursive: true, force: true });
  }
}

/** Returns the size of the database files. */
export async function databaseBytes(dataDir: string): Promise<number> {
  const path = databasePath(dataDir);
  const sizes = (await readdir(path)).map(async (name) => (await stat(join(path, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function requireDatabase(dataDir: string): void {
  if (hasDatabase(dataDir)) return;
  throw new StartError("dataDirUnusable", `The data directory ${dataDir} holds no database.`);
}

/** Throws a `StartError` if the path is inaccessible or a dangling link. */
function hasDatabase(dataDir: string): boolean {
  const path = databasePath(dataDir);
  try {
    if (statSync(path, { throwIfNoEntry: false })) return true;
    rejectDanglingLink(dataDir);
    rejectDanglingLink(path);
    return false;
  } catch (error) {
    throw dataDirError(dataDir, error);
  }
}

/** Converts errors from the database and the file system to a `StartError`. */
async function withStartErrors<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isSystemError = error instanceof Error && "syscall" in error;
    throw asStartError(dataDir, error) ?? (isSystemError ? dataDirError(dataDir, error) : error);
  }
}

function unusedPath(preferred: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? preferred : `${preferred}-${number}`;
    if (!existsSync(name)) return name;
  }
}
