import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a temporary directory for a test, with a function that removes it. */
export async function createTempDir(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "fanal-db-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
