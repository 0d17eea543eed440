import { readlinkSync, statSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BeaconDb } from "../../db/beacon-db.ts";
import {
  DatabaseCorruptError,
  DatabaseInUseError,
  DatabaseOpenError,
  DatabaseSchemaError,
  DatabaseWriteError,
} from "../../db/errors.ts";
import { openDatabase } from "../../db/open-database.ts";
import { UnexecutableBlockError } from "../../evm/engine/unexecutable-block.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { missingNativeModule } from "../../runtime/native-modules.ts";
import { StartError } from "../start-error.ts";

/** The database contains the node's private key. */
const OWNER_ONLY = 0o700;

/** Returns the path of the database. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "beacon-db");
}

/** Returns the path of the public key cache. */
export function pubkeyFilePath(dataDir: string): string {
  return join(dataDir, "pubkeys");
}

/** Location of a stored chain, for error messages. */
export interface ChainLocation {
  /** Start of a sentence, such as "The data directory /data". */
  name: string;
  /** Omitted for a file. */
  db?: BeaconDb;
}

export const dataDirLocation = (dataDir: string, db: BeaconDb): ChainLocation => ({
  name: `The data directory ${dataDir}`,
  db,
});

/** Opens the database of a data directory. Throws a `StartError`. */
export async function openDataDirectory(
  dataDir: string,
  { sync, logger }: { sync: boolean; logger?: Logger },
): Promise<BeaconDb> {
  const path = databasePath(dataDir);
  const checking = logger && new Progress({ message: "Checking database files", logger });
  try {
    await createDirectory(path);
    // An existing database may be world-readable. The data directory itself may contain other files.
    await chmod(path, OWNER_ONLY);
    const db = await openDatabase(path, {
      sync,
      onCheck: ({ bytes, ofBytes }) => checking?.report(bytes, ofBytes),
      onTornWrite: (bytes) => logger?.notice("Discarded torn write after crash", { bytes }),
    });
    checking?.finish();
    return db;
  } catch (error) {
    // LevelDB's native code is loaded with the first database.
    if (missingNativeModule(error)) throw error;
    throw asStartError(dataDir, error) ?? dataDirError(dataDir, error);
  }
}

/** LevelDB has no error codes, only the messages of the operating system. */
const FORBIDDEN = /permission denied|operation not permitted|read-only file system|access is denied/i;

/** Creates the error for a data directory that cannot be opened. */
export function dataDirError(dataDir: string, error: unknown): StartError {
  const cause = error instanceof DatabaseOpenError ? error.cause : error;
  const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
  const kind = FORBIDDEN.test(reason) ? "dataDirForbidden" : "dataDirUnusable";
  return new StartError(kind, `The data directory ${dataDir} cannot be opened: ${reason}.`, error);
}

/** Creates a directory and its parents. Node's recursive `mkdir` loops forever in some file systems, such as /proc. */
async function createDirectory(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  rejectDanglingLink(path);
  const parent = dirname(path);
  if (parent !== path) await createDirectory(parent);
  await mkdir(path, { mode: OWNER_ONLY });
}

/** Throws for a dangling symbolic link, whose target may be on an unmounted disk. */
export function rejectDanglingLink(path: string): void {
  const target = linkTarget(path);
  if (target === undefined || statSync(path, { throwIfNoEntry: false })) return;
  throw new Error(`${path} is a symbolic link to ${target}, which does not exist`);
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Converts an error caused by the database or its content to a `StartError`. Returns undefined for other errors. */
export function asStartError(dataDir: string, error: unknown): StartError | undefined {
  // Closing failed too, usually for the same reason.
  if (isSuppressed(error)) return asStartError(dataDir, error.suppressed);
  if (error instanceof DatabaseInUseError) {
    return new StartError("dataDirInUse", `The data directory ${dataDir} is in use by ${error.user}.`, error);
  }
  if (error instanceof DatabaseSchemaError) return new StartError("dataDirSchema", error.message, error);
  if (error instanceof DatabaseCorruptError) return new StartError("dataDirDamaged", error.message, error);
  if (error instanceof UnexecutableBlockError) {
    return new StartError("unexecutableBlock", `The data directory ${dataDir} cannot be used: ${error.message}`, error);
  }
  if (error instanceof DatabaseWriteError) return new StartError("dataDirFailed", error.message, error);
  return undefined;
}

/** Detects the error of a failed `using` disposal by name, since Node 22 lacks the class. */
function isSuppressed(error: unknown): error is Error & { suppressed: unknown } {
  return error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
}
