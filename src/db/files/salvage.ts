import { LevelStore } from "../level-store.ts";
import { type DatabaseFiles, listFiles, readBytes } from "./database-files.ts";
import type { Entry } from "./entry.ts";
import { readLog } from "./log-file.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { entriesOfTable } from "./table-file.ts";
import { entriesOfRecord } from "./write-record.ts";

/** What comes out of a damaged database. */
export interface Salvaged {
  entries: number;
  /** What could not be read, each as a part of a sentence. */
  losses: string[];
}

/**
 * Writes into a new database whatever can be read of a damaged one, or of one bucket in it; the damaged one stays as it is. Nothing
 * is taken whose checksum does not fit, but what is left need not fit together any more.
 */
export async function salvageDatabase(from: string, to: string, onlyBucket?: number): Promise<Salvaged> {
  const files = await listFiles(from);
  const losses: string[] = [];
  const store = await LevelStore.open(to, { sync: false });
  const newest = new Map<string, bigint>();
  try {
    for await (const entries of readable(files, (loss) => losses.push(loss))) {
      const batch = store.batch();
      for (const { key, value, sequence } of entries) {
        if (onlyBucket !== undefined && key[0] !== onlyBucket) continue;
        const name = Buffer.from(key).toString("latin1");
        if (key.length === 0 || (newest.get(name) ?? -1n) >= sequence) continue;
        newest.set(name, sequence);
        if (value === null) batch.delete(key[0]!, key.subarray(1));
        else batch.put(key[0]!, key.subarray(1), value);
      }
      await batch.write();
    }
  } finally {
    await store.close();
  }
  return { entries: newest.size, losses };
}

/** The entries of all files that belong to the database, in portions. */
async function* readable(files: DatabaseFiles, onLoss: (loss: string) => void): AsyncGenerator<Iterable<Entry>> {
  const manifest = await currentManifest(files);
  if (manifest === undefined) onLoss("the manifest, which says what files there should be");
  for (const number of manifest?.tables.keys() ?? []) {
    if (!files.tables.has(number)) onLoss(`the table ${number}, which is missing`);
  }
  for (const [number, name] of files.tables) {
    if (manifest && !manifest.tables.has(number)) continue;
    const bytes = await readBytes(files, name);
    yield entriesOfTable(bytes, (reason) => onLoss(`a part of the table ${name}: ${reason}`));
  }
  for (const [number, name] of files.logs) {
    if (manifest && number < manifest.firstLog) continue;
    const { records, damagedAt, tornBytes } = readLog(await readBytes(files, name));
    if (damagedAt !== undefined) onLoss(`writes of the log ${name} from byte ${damagedAt} on`);
    if (tornBytes > 0) onLoss(`the last ${tornBytes} bytes of the log ${name}`);
    for (const record of records) yield entriesOfRecord(record);
  }
}

/** Undefined when it is not there or not whole; then all files that there are count. */
async function currentManifest(files: DatabaseFiles): Promise<Manifest | undefined> {
  try {
    const name = new TextDecoder().decode(await readBytes(files, "CURRENT")).trim();
    const { records, damagedAt } = readLog(await readBytes(files, name));
    return damagedAt === undefined && records.length > 0 ? readManifest(records) : undefined;
  } catch {
    return undefined;
  }
}
