import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Names the directory in which all tests of a run keep what they share. Without it, as outside of tests, nothing is
 * kept.
 */
export const SHARED_DIRECTORY = "FANAL_TEST_SHARED";

/**
 * Puts into a directory what `make` puts into an empty one; for the same description it is made once in a run, and
 * copied.
 */
export async function madeOnce(
  description: string,
  directory: string,
  make: (directory: string) => Promise<void>,
): Promise<void> {
  const shared = process.env[SHARED_DIRECTORY];
  if (shared === undefined) return make(directory);
  const kept = join(shared, createHash("sha256").update(description).digest("hex"));
  if (!existsSync(kept)) {
    const draft = mkdtempSync(join(shared, "draft-"));
    await make(draft);
    keep(draft, kept);
  }
  cpSync(kept, directory, { recursive: true });
}

/** Whoever comes second, from another process, has made the same. */
function keep(draft: string, kept: string): void {
  try {
    renameSync(draft, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
    rmSync(draft, { recursive: true });
  }
}
