import { usageError } from "../exit.ts";

/** Returns the directory of `fanal dev keys export DIR`. */
export function readKeysOperands([action, directory, ...more]: readonly string[]): string {
  if (action === undefined) throw usageError('Missing action. Give "fanal dev keys export DIR".');
  if (action !== "export") {
    throw usageError(`Unknown action "${action}" of "fanal dev keys". The only one is export.`);
  }
  if (directory === undefined) throw usageError('"fanal dev keys export" requires a directory.');
  if (more[0] !== undefined) throw usageError(`Unexpected argument "${more[0]}" of "fanal dev keys export".`);
  return directory;
}
