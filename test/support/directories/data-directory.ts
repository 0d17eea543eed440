import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import { openDataDirectory } from "../../../src/node/storage/data-directory.ts";

/** Looks into, or changes, the database of a data directory that no program has open. */
export async function inDataDirectory<T>(dataDir: string, work: (db: BeaconDb) => Promise<T>): Promise<T> {
  const db = await openDataDirectory(dataDir, { sync: false });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
