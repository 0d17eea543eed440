import { statSync } from "node:fs";
import type { Logger } from "../log/logger.ts";

const OTHERS_MAY_READ = 0o004;

/** Warns of a secret that every user of the machine can read. A file that cannot be looked at is left to its reader. */
export function warnIfReadableByOthers(file: string, logger: Pick<Logger, "warn">): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || (stats.mode & OTHERS_MAY_READ) === 0) return;
  logger.warn("Every user of this machine can read a secret file; take that from them with chmod o-rwx", { file });
}
