import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseSchemaError } from "../../db/errors.ts";
import { openDatabase } from "../../db/open-database.ts";
import { StartupError } from "../exit.ts";

/** Opens the database of a data directory; what can go wrong is said in one sentence. */
export async function openDataDirectory(dataDir: string, { sync }: { sync: boolean }): Promise<BeaconDb> {
  try {
    await mkdir(dataDir, { recursive: true });
    return await openDatabase(join(dataDir, "beacon-db"), { sync });
  } catch (error) {
    if (error instanceof DatabaseInUseError) {
      throw new StartupError(
        "dataDirInUse",
        `The data directory ${dataDir} is in use by another process; stop that one, or give another --data-dir.`,
        error,
      );
    }
    if (error instanceof DatabaseSchemaError) {
      throw new StartupError("dataDirMismatch", error.message, error);
    }
    const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
    const hint = error instanceof DatabaseCorruptError ? "; give another --data-dir, or restore it from a copy" : "";
    throw new StartupError(
      "dataDirUnusable",
      `The data directory ${dataDir} cannot be opened: ${reason}${hint}.`,
      error,
    );
  }
}
