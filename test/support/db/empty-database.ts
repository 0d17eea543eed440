import { onTestFinished } from "vitest";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import { openDatabase } from "../../../src/db/open-database.ts";
import { removableDirectory } from "../directories/removable-directory.ts";

/** Opens an empty database in a temporary directory. Both are removed after the test. */
export async function openEmptyDatabase(): Promise<BeaconDb> {
  const directory = removableDirectory();
  const db = await openDatabase(directory.path, { sync: false });
  onTestFinished(async () => {
    await db.close();
    directory.remove();
  });
  return db;
}
