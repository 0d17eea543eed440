import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../errors/error-code.ts";

/** Files in a LevelDB directory, by type. */
export interface DatabaseFiles {
  path: string;
  hasCurrent: boolean;
  manifests: string[];
  /** File number → name, in ascending order. */
  tables: Map<number, string>;
  /** File number → name, in ascending order. */
  logs: Map<number, string>;
}

/** Lists the LevelDB files in a directory; empty if the directory does not exist. */
export async function listFiles(path: string): Promise<DatabaseFiles> {
  const names = (await namesIn(path)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const numbered = (ending: RegExp) =>
    new Map(names.filter((name) => ending.test(name)).map((name) => [Number.parseInt(name, 10), name]));
  return {
    path,
    hasCurrent: names.includes("CURRENT"),
    manifests: names.filter((name) => /^MANIFEST-\d+$/.test(name)),
    tables: numbered(/^\d+\.(ldb|sst)$/),
    logs: numbered(/^\d+\.log$/),
  };
}

/** Reads an entire database file. */
export function readBytes({ path }: DatabaseFiles, name: string): Promise<Uint8Array> {
  return readFile(join(path, name));
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
