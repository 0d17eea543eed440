import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BeaconDb } from "../db/beacon-db.ts";
import { DatabaseCorruptError, DatabaseInUseError, DatabaseSchemaError } from "../db/errors.ts";
import { openDatabase } from "../db/open-database.ts";
import { StartError } from "./start-error.ts";

/** Opens the database of a data directory; what can go wrong is said in one sentence. */
export async function openDataDirectory(dataDir: string, { sync }: { sync: boolean }): Promise<BeaconDb> {
  try {
    await mkdir(dataDir, { recursive: true });
    return await openDatabase(join(dataDir, "beacon-db"), { sync });
  } catch (error) {
    if (error instanceof DatabaseInUseError) {
      throw new StartError("dataDirInUse", `The data directory ${dataDir} is in use by another process.`, error);
    }
    if (error instanceof DatabaseSchemaError) throw new StartError("dataDirSchema", error.message, error);
    const kind = error instanceof DatabaseCorruptError ? "dataDirDamaged" : "dataDirUnusable";
    const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
    throw new StartError(kind, `The data directory ${dataDir} cannot be opened: ${reason}.`, error);
  }
}
