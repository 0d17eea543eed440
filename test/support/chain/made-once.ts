import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Environment variable with the shared directory of a test run. Without it, nothing is shared. */
export const SHARED_DIRECTORY = "FANAL_TEST_SHARED";

/** Fills a directory with `make`. For equal descriptions, `make` runs once per test run, and the result is copied. */
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

/** If another process was faster, its equal result is used. */
function keep(draft: string, kept: string): void {
  try {
    renameSync(draft, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
    rmSync(draft, { recursive: true });
  }
}
