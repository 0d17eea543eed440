import { LevelStore } from "../level/level-store.ts";
import { type DatabaseFiles, listFiles, readBytes } from "./database-files.ts";
import { readLog } from "./log-file.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { entriesOfTable } from "./table-file.ts";
import { type Entry, entriesOfRecord } from "./write-record.ts";

/** Result of salvaging a damaged database. */
export interface SalvageResult {
  entries: number;
  /** Descriptions of unreadable parts, as noun phrases. */
  losses: string[];
}

/**
 * Copies everything readable from a damaged database, or from one bucket of it, into a new one. The source is not
 * changed. Data with a wrong checksum is skipped, so the result may be inconsistent.
 */
export async function salvageDatabase(from: string, to: string, onlyBucket?: number): Promise<SalvageResult> {
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

/** Yields the entries of all live files, in batches. */
async function* readable(files: DatabaseFiles, onLoss: (loss: string) => void): AsyncGenerator<Iterable<Entry>> {
  const manifest = await currentManifest(files);
  if (manifest === undefined) onLoss("the manifest, which lists the live files");
  for (const number of manifest?.tables.keys() ?? []) {
    if (!files.tables.has(number)) onLoss(`table ${number}, which is missing`);
  }
  for (const [number, name] of files.tables) {
    if (manifest && !manifest.tables.has(number)) continue;
    const bytes = await readBytes(files, name);
    yield entriesOfTable(bytes, (reason) => onLoss(`part of table ${name}: ${reason}`));
  }
  for (const [number, name] of files.logs) {
    if (manifest && number < manifest.firstLog) continue;
    const { records, damagedAt, tornBytes } = readLog(await readBytes(files, name));
    if (damagedAt !== undefined) onLoss(`writes in log ${name} from byte ${damagedAt} on`);
    if (tornBytes > 0) onLoss(`the last ${tornBytes} bytes of log ${name}`);
    for (const record of records) yield entriesOfRecord(record);
  }
}

/** Returns undefined if the manifest is missing or damaged; every file is then treated as live. */
async function currentManifest(files: DatabaseFiles): Promise<Manifest | undefined> {
  try {
    const name = new TextDecoder().decode(await readBytes(files, "CURRENT")).trim();
    const { records, damagedAt } = readLog(await readBytes(files, name));
    return damagedAt === undefined && records.length > 0 ? readManifest(records) : undefined;
  } catch {
    return undefined;
  }
}
