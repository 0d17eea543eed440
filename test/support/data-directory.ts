import { join } from "node:path";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { openDatabase } from "../../src/db/open-database.ts";

/** Looks into, or changes, the database of a data directory that no program has open. */
export async function inDataDirectory<T>(dataDir: string, work: (db: BeaconDb) => Promise<T>): Promise<T> {
  const db = await openDatabase(join(dataDir, "beacon-db"), { sync: false });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
