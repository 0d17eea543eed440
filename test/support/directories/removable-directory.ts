import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface RemovableDirectory {
  path: string;
  /** Removes the directory with its contents. */
  remove(): void;
}

/** Creates a temporary directory. */
export function removableDirectory(): RemovableDirectory {
  const path = mkdtempSync(join(tmpdir(), "fanal-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
