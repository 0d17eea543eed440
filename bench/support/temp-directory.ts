import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { removableDirectory } from "../../test/support/directories/removable-directory.ts";

/** Runs the work with a temporary directory, and removes it afterwards, also on SIGINT and SIGTERM. */
export async function withTempDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const { path, remove } = removableDirectory();
  // Without a listener, a signal ends the process without running its exit listeners.
  const exit = () => process.exit(1);
  process.once("exit", remove).once("SIGINT", exit).once("SIGTERM", exit);
  try {
    return await work(path);
  } finally {
    process.off("exit", remove).off("SIGINT", exit).off("SIGTERM", exit);
    remove();
  }
}

export function bytesIn(directory: string): number {
  return readdirSync(directory)
    .map((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
