import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import { openDataDirectory } from "../../../src/node/storage/data-directory.ts";

/** Reads or changes the database of an unused data directory. */
export async function inDataDirectory<T>(dataDir: string, work: (db: BeaconDb) => Promise<T>): Promise<T> {
  const db = await openDataDirectory(dataDir, { sync: false });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
