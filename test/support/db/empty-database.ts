import { onTestFinished } from "vitest";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import { createMemoryDatabase } from "../../../src/db/open-database.ts";
import { tempDirectory } from "../directories/temp-directory.ts";

/** An empty database in memory, closed after the test. */
export async function openEmptyDatabase(): Promise<BeaconDb> {
  const db = await createMemoryDatabase(tempDirectory());
  onTestFinished(() => db.close());
  return db;
}
