import { DatabaseCorruptError } from "../errors.ts";
import { Bucket } from "../keys.ts";
import { type DatabaseFiles, listFiles, readBytes } from "./database-files.ts";
import { type LogContents, readLog } from "./log-file.ts";
import { type LiveTable, type Manifest, readManifest } from "./manifest.ts";
import { checkTable } from "./table-file.ts";
import { sequencesOf } from "./write-record.ts";

export interface FileCheckOptions {
  /** How much of the tables that hold nothing but blocks or states is read, newest first; the others are always read. */
  bulkBytes: number;
  onProgress?(done: CheckProgress): void;
}

export interface CheckProgress {
  tables: number;
  of: number;
  bytes: number;
  ofBytes: number;
}

export interface CheckedFiles {
  tables: number;
  /** Tables that were too many to be read. */
  unreadTables: number;
  /** What a crash left of a write that it cut short; nobody was told that it was done. */
  tornBytes: number;
}

/** A reason for which a directory is not opened, as the end of a sentence. */
class Damage extends Error {}

/**
 * Checks the files of a database that nobody has open, without changing any: LevelDB itself takes what it cannot read for
 * something that was never there, and then deletes files that belong to it. Throws a `DatabaseCorruptError`.
 */
export async function checkFiles(path: string, options: FileCheckOptions): Promise<CheckedFiles> {
  const files = await listFiles(path);
  try {
    if (!files.hasCurrent) {
      // A crash while a database is made leaves a manifest alone.
      if (files.tables.size + files.logs.size === 0) return { tables: 0, unreadTables: 0, tornBytes: 0 };
      throw new Damage("the file CURRENT is missing");
    }
    const manifest = await readCurrentManifest(files);
    const unreadTables = await checkTables(files, manifest, options);
    const tornBytes = await checkLogs(files, manifest);
    return { tables: manifest.tables.size, unreadTables, tornBytes };
  } catch (error) {
    throw error instanceof Damage ? new DatabaseCorruptError(path, error) : error;
  }
}

async function readCurrentManifest(files: DatabaseFiles): Promise<Manifest> {
  const named = new TextDecoder().decode(await readBytes(files, "CURRENT"));
  const name = files.manifests.find((manifest) => named === `${manifest}\n`);
  if (name === undefined) throw new Damage("the file that CURRENT names is missing");
  const { records } = requireUndamaged(name, readLog(await readBytes(files, name)));
  if (records.length === 0) throw new Damage(`the file ${name} holds nothing`);
  try {
    return readManifest(records);
  } catch (error) {
    throw new Damage(`the file ${name} cannot be read: ${reasonOf(error)}`);
  }
}

async function checkTables(files: DatabaseFiles, { tables }: Manifest, options: FileCheckOptions): Promise<number> {
  const newestFirst = [...tables.values()].sort((a, b) => b.number - a.number);
  let bulkBytes = 0;
  const toRead = newestFirst.filter((table) => {
    if (!isBulk(table)) return true;
    bulkBytes += table.size;
    return bulkBytes <= options.bulkBytes;
  });
  const missing = newestFirst.find(({ number }) => !files.tables.has(number));
  if (missing) throw new Damage(`the table ${missing.number} is missing`);
  const ofBytes = toRead.reduce((sum, { size }) => sum + size, 0);
  let bytes = 0;
  for (const [index, table] of toRead.entries()) {
    await checkTableFile(files, files.tables.get(table.number)!, table);
    bytes += table.size;
    options.onProgress?.({ tables: index + 1, of: toRead.length, bytes, ofBytes });
  }
  return tables.size - toRead.length;
}

async function checkTableFile(files: DatabaseFiles, name: string, { size }: LiveTable): Promise<void> {
  const bytes = await readBytes(files, name);
  if (bytes.length !== size) throw new Damage(`the file ${name} has ${bytes.length} bytes instead of ${size}`);
  try {
    checkTable(bytes);
  } catch (error) {
    throw new Damage(`the file ${name} cannot be read: ${reasonOf(error)}`);
  }
}

const BULK_BUCKETS: ReadonlySet<number | undefined> = new Set([
  Bucket.blocks,
  Bucket.snapshots,
  Bucket.snapshotParts,
  Bucket.dataSidecars,
]);

/** Blocks and states show by their hashes, and sidecars by checksums, whether they are as they were, whenever they are read. */
function isBulk({ smallestKey, largestKey }: LiveTable): boolean {
  const [first, last] = [smallestKey[0], largestKey[0]];
  return first === last && BULK_BUCKETS.has(first);
}

/** Every write has the number after that of the one before, so that none can be missing unnoticed; tells the torn bytes. */
async function checkLogs(files: DatabaseFiles, { firstLog, lastSequence }: Manifest): Promise<number> {
  if (firstLog > 0 && !files.logs.has(firstLog)) throw new Damage(`the log ${firstLog} is missing`);
  const logs = [...files.logs].filter(([number]) => number >= firstLog);
  let tornBytes = 0;
  let next: bigint | undefined;
  for (const [number, name] of logs) {
    if (tornBytes > 0) throw new Damage(`the end of the log before ${name} cannot be read`);
    const contents = requireUndamaged(name, readLog(await readBytes(files, name)));
    for (const record of contents.records) {
      const { first, count } = sequencesOf(record);
      const follows = next === undefined ? first <= lastSequence + 1n : first === next;
      if (!follows) throw new Damage(`writes before number ${first} are missing in the log ${number}`);
      next = first + BigInt(count);
    }
    tornBytes = contents.tornBytes;
  }
  return tornBytes;
}

function requireUndamaged(name: string, contents: LogContents): LogContents {
  if (contents.damagedAt === undefined) return contents;
  throw new Damage(`the file ${name} cannot be read at byte ${contents.damagedAt}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
