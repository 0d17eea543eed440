import { readlinkSync, statSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BeaconDb } from "../db/beacon-db.ts";
import {
  DatabaseCorruptError,
  DatabaseInUseError,
  DatabaseOpenError,
  DatabaseSchemaError,
  DatabaseWriteError,
} from "../db/errors.ts";
import { openDatabase } from "../db/open-database.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import { StartError } from "./start-error.ts";

/** Nobody else needs to read the key by which other nodes know this one. */
const OWNER_ONLY = 0o700;

export function databasePath(dataDir: string): string {
  return join(dataDir, "beacon-db");
}

/** Where the public keys of many validators are kept. */
export function pubkeyFilePath(dataDir: string): string {
  return join(dataDir, "pubkeys");
}

/** Where a stored chain was found. */
export interface ChainHolder {
  /** As a sentence begins with it. */
  name: string;
  /** Left out for a file. */
  db?: BeaconDb;
}

export const heldByDirectory = (dataDir: string, db: BeaconDb): ChainHolder => ({
  name: `The data directory ${dataDir}`,
  db,
});

/** Opens the database of a data directory; what can go wrong is said in one sentence. */
export async function openDataDirectory(
  dataDir: string,
  { sync, logger }: { sync: boolean; logger?: Logger },
): Promise<BeaconDb> {
  const path = databasePath(dataDir);
  const checking = logger && new Progress({ message: "Checking the files of the database", logger });
  try {
    await makeDirectory(path);
    // One that was there may be open to others. The data directory itself may hold things that are not ours to close.
    await chmod(path, OWNER_ONLY);
    const db = await openDatabase(path, {
      sync,
      onCheck: ({ bytes, ofBytes }) => checking?.report(bytes, ofBytes),
      onTornWrite: (bytes) => logger?.notice("A write that a crash cut short is left out", { bytes }),
    });
    checking?.finish();
    return db;
  } catch (error) {
    throw asStartError(dataDir, error) ?? cannotBeOpened(dataDir, error);
  }
}

/** LevelDB has no codes for it; its words are those of the operating system, as Node's are. */
const FORBIDDEN = /permission denied|operation not permitted|read-only file system|access is denied/i;

export function cannotBeOpened(dataDir: string, error: unknown): StartError {
  const cause = error instanceof DatabaseOpenError ? error.cause : error;
  const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
  const kind = FORBIDDEN.test(reason) ? "dataDirForbidden" : "dataDirUnusable";
  return new StartError(kind, `The data directory ${dataDir} cannot be opened: ${reason}.`, error);
}

/**
 * Makes a directory and those that it lies in. Node's own way to do so tries for ever where nothing can be made although what it
 * would lie in is there, as in /proc.
 */
async function makeDirectory(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  requireNoLinkToNothing(path);
  const parent = dirname(path);
  if (parent !== path) await makeDirectory(parent);
  await mkdir(path, { mode: OWNER_ONLY });
}

/** What a link leads to may be on a disk that is not mounted. Whoever finds nothing there must not take it for a place where nothing is yet. */
export function requireNoLinkToNothing(path: string): void {
  const target = linkTarget(path);
  if (target === undefined || statSync(path, { throwIfNoEntry: false })) return;
  throw new Error(`${path} is a link to ${target}, which is not there`);
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** What the database of a data directory makes impossible; undefined for whatever is not the database's fault. */
export function asStartError(dataDir: string, error: unknown): StartError | undefined {
  // What was opened could not be closed either, mostly for the same reason.
  if (isSuppressed(error)) return asStartError(dataDir, error.suppressed);
  if (error instanceof DatabaseInUseError) {
    return new StartError("dataDirInUse", `The data directory ${dataDir} is in use by ${error.user}.`, error);
  }
  if (error instanceof DatabaseSchemaError) return new StartError("dataDirSchema", error.message, error);
  if (error instanceof DatabaseCorruptError) return new StartError("dataDirDamaged", error.message, error);
  if (error instanceof DatabaseWriteError) return new StartError("dataDirFailed", error.message, error);
  return undefined;
}

/** The error of a block with `using` whose end failed as well. By its name: Node 22 does not have the class. */
function isSuppressed(error: unknown): error is Error & { suppressed: unknown } {
  return error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
}
