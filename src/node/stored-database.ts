import { existsSync, statSync } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { BeaconDb } from "../db/beacon-db.ts";
import { type CheckedFiles, checkFiles, type FileCheckOptions } from "../db/files/check-files.ts";
import { type Salvaged, salvageDatabase } from "../db/files/salvage.ts";
import { Bucket } from "../db/keys.ts";
import { LevelStore } from "../db/level-store.ts";
import { openDatabase, SCHEMA_VERSION } from "../db/open-database.ts";
import { type DevIdentity, isDevIdentity } from "../dev/identity.ts";
import type { Logger } from "../log/logger.ts";
import {
  asStartError,
  cannotBeOpened,
  databasePath,
  openDataDirectory,
  requireNoLinkToNothing,
} from "./data-directory.ts";
import { StartError } from "./start-error.ts";

// Nothing here knows of chains, so that the preset can still be chosen by what a database says of its own.

/** Opens the database of a data directory that must have one. */
export async function openStoredDatabase(dataDir: string): Promise<BeaconDb> {
  requireDatabase(dataDir);
  return openDataDirectory(dataDir, { sync: true });
}

/** What the database of a data directory says of its chain; null when there is no database, or no chain in it. */
export async function readStoredIdentity(dataDir: string, logger: Logger): Promise<unknown> {
  if (!hasDatabase(dataDir)) return null;
  const db = await openDataDirectory(dataDir, { sync: true, logger });
  try {
    return await db.meta.getIdentity();
  } finally {
    await db.close();
  }
}

/** What the dev chain of a data directory was made with; null when there is none. */
export async function readStoredDevChain(dataDir: string, logger: Logger): Promise<DevIdentity | null> {
  const identity = await readStoredIdentity(dataDir, logger);
  return isDevIdentity(identity) ? identity : null;
}

/** Checks all files of a data directory's database, which nobody may have open; throws a `StartError`. */
export async function checkStoredFiles(
  dataDir: string,
  onProgress: FileCheckOptions["onProgress"],
): Promise<CheckedFiles> {
  requireDatabase(dataDir);
  return explained(dataDir, async () => {
    await LevelStore.requireUnused(databasePath(dataDir));
    return checkFiles(databasePath(dataDir), { bulkBytes: Number.POSITIVE_INFINITY, onProgress });
  });
}

/** A database in the making that is to take the place of a damaged one. */
export interface Replacement extends AsyncDisposable {
  db: BeaconDb;
  salvaged: Salvaged;
  /** Puts the damaged one aside, where it stays, and this one in its place; tells where the damaged one is. */
  takePlace(): Promise<string>;
}

/** Writes what can be read of a data directory's database into a new one beside it, which is gone again unless it takes its place. */
export async function salvageStoredDatabase(dataDir: string): Promise<Replacement> {
  requireDatabase(dataDir);
  const damaged = databasePath(dataDir);
  const made = `${damaged}.new`;
  return explained(dataDir, async () => {
    await LevelStore.requireUnused(damaged);
    await rm(made, { recursive: true, force: true });
    try {
      const salvaged = await salvageDatabase(damaged, made);
      const db = await openDatabase(made, { sync: true });
      return {
        db,
        salvaged,
        async takePlace() {
          await db.close();
          const aside = freeName(`${damaged}.damaged`);
          await rename(damaged, aside);
          await rename(made, damaged);
          return aside;
        },
        async [Symbol.asyncDispose]() {
          await db.close();
          await rm(made, { recursive: true, force: true });
        },
      };
    } catch (error) {
      await rm(made, { recursive: true, force: true });
      throw error;
    }
  });
}

/** A damaged database that is out of the way of a new one; it comes back unless it is removed. */
interface PutAside extends AsyncDisposable {
  remove(): Promise<void>;
}

/** Puts the database of a dev chain aside if it is damaged, so that it cannot be opened to be emptied; undefined if it is not, or there is none. */
export async function putDamagedDevChainAside(dataDir: string, logger: Logger): Promise<PutAside | undefined> {
  const damage = await damageOf(dataDir, logger);
  if (!damage) return undefined;
  // The chain of a network may have taken days to sync; and what does not even say whose it is cannot be repaired either.
  if (!(await explained(dataDir, () => mayBeDevChain(databasePath(dataDir))))) throw damage;
  logger.notice("A new chain takes the place of one whose database is damaged", { reason: damage.message });
  const damaged = databasePath(dataDir);
  const aside = freeName(`${damaged}.damaged`);
  await rename(damaged, aside);
  let isThere = true;
  return {
    async remove() {
      await rm(aside, { recursive: true, force: true });
      isThere = false;
    },
    async [Symbol.asyncDispose]() {
      if (!isThere) return;
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

/** Whether nothing that can be read of a damaged database says that it is something else than a dev chain of this program. */
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

/** How many bytes the database of a data directory takes. */
export async function storedBytes(dataDir: string): Promise<number> {
  const path = databasePath(dataDir);
  const sizes = (await readdir(path)).map(async (name) => (await stat(join(path, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function requireDatabase(dataDir: string): void {
  if (hasDatabase(dataDir)) return;
  throw new StartError("dataDirUnusable", `The data directory ${dataDir} holds no database.`);
}

/** What may not be read could be there or not. */
function hasDatabase(dataDir: string): boolean {
  const path = databasePath(dataDir);
  try {
    if (statSync(path, { throwIfNoEntry: false })) return true;
    requireNoLinkToNothing(dataDir);
    requireNoLinkToNothing(path);
    return false;
  } catch (error) {
    throw cannotBeOpened(dataDir, error);
  }
}

async function explained<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    throw asStartError(dataDir, error) ?? (isOfSystem ? cannotBeOpened(dataDir, error) : error);
  }
}

function freeName(wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name)) return name;
  }
}
