import { statSync } from "node:fs";
import type { Logger } from "../../log/logger.ts";

const WORLD_READABLE = 0o004;

/** Warns about a world-readable secret file. Ignores a missing file. */
export function warnIfReadableByOthers(file: string, logger: Pick<Logger, "warn">): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || (stats.mode & WORLD_READABLE) === 0) return;
  logger.warn("Secret file is world-readable, run chmod o-rwx", { file });
}
