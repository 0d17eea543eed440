import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface RemovableDirectory {
  path: string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/** A new directory, among the temporary files. */
export function removableDirectory(): RemovableDirectory {
  const path = mkdtempSync(join(tmpdir(), "fanal-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
