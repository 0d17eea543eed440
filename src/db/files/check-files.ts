import { DatabaseCorruptError } from "../errors.ts";
import { Bucket } from "../keys.ts";
import { type DatabaseFiles, listFiles, readBytes } from "./database-files.ts";
import { type LogContents, readLog } from "./log-file.ts";
import { type LiveTable, type Manifest, readManifest } from "./manifest.ts";
import { checkTable } from "./table-file.ts";
import { sequencesOf } from "./write-record.ts";

export interface FileCheckOptions {
  /**
   * Maximum number of bytes to check in bulk tables, newest first. Bulk tables hold only blocks, states or sidecars;
   * other tables are always checked.
   */
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
  /** Bulk tables skipped because of `bulkBytes`. */
  unreadTables: number;
  /** Size of an incomplete last write after a crash. That write was never acknowledged. */
  tornBytes: number;
}

/** A file is damaged. The message completes the sentence "The database is damaged: …". */
class Damage extends Error {}

/**
 * Checks the files of a closed database without changing them. LevelDB ignores unreadable entries and then deletes the
 * files they refer to, so this runs before LevelDB opens them. Throws a `DatabaseCorruptError`.
 */
export async function checkFiles(path: string, options: FileCheckOptions): Promise<CheckedFiles> {
  const files = await listFiles(path);
  try {
    if (!files.hasCurrent) {
      // A crash during creation leaves only a manifest.
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
  if (name === undefined) throw new Damage("the manifest named in CURRENT is missing");
  const { records } = requireUndamaged(name, readLog(await readBytes(files, name)));
  if (records.length === 0) throw new Damage(`the file ${name} is empty`);
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
  const missingTable = newestFirst.find(({ number }) => !files.tables.has(number));
  if (missingTable) throw new Damage(`table ${missingTable.number} is missing`);
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
  if (bytes.length !== size) throw new Damage(`the file ${name} has ${bytes.length} bytes, expected ${size}`);
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
  Bucket.payloads,
]);

/**
 * True for a table that holds only blocks, payloads, states or sidecars. Such values are verified by hash or checksum on every
 * read.
 */
function isBulk({ smallestKey, largestKey }: LiveTable): boolean {
  const [first, last] = [smallestKey[0], largestKey[0]];
  return first === last && BULK_BUCKETS.has(first);
}

/** Checks that the sequence numbers in the logs have no gaps; returns the number of torn bytes. */
async function checkLogs(files: DatabaseFiles, { firstLog, lastSequence }: Manifest): Promise<number> {
  if (firstLog > 0 && !files.logs.has(firstLog)) throw new Damage(`log ${firstLog} is missing`);
  const logs = [...files.logs].filter(([number]) => number >= firstLog);
  let tornBytes = 0;
  let next: bigint | undefined;
  for (const [number, name] of logs) {
    if (tornBytes > 0) throw new Damage(`the log before ${name} has a torn end`);
    const contents = requireUndamaged(name, readLog(await readBytes(files, name)));
    for (const record of contents.records) {
      const { first, count } = sequencesOf(record);
      const follows = next === undefined ? first <= lastSequence + 1n : first === next;
      if (!follows) throw new Damage(`log ${number} lacks the writes before sequence ${first}`);
      next = first + BigInt(count);
    }
    tornBytes = contents.tornBytes;
  }
  return tornBytes;
}

function requireUndamaged(name: string, contents: LogContents): LogContents {
  if (contents.damagedAt === undefined) return contents;
  throw new Damage(`the file ${name} is damaged at byte ${contents.damagedAt}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
