import { resolve } from "node:path";
import { ChainFileError } from "../../chain/stored/chain-file.ts";
import type { ExportedCounts } from "../../chain/stored/export-chain.ts";
import type { RepairedChain } from "../../chain/stored/repair-chain.ts";
import { StartError, type StartErrorKind } from "../../node/start-error.ts";
import {
  asStartError,
  type ChainLocation,
  dataDirLocation,
  openDataDirectory,
} from "../../node/storage/data-directory.ts";
import {
  checkStoredFiles,
  databaseBytes,
  openStoredDatabase,
  type ReplacementDatabase,
  salvageStoredDatabase,
} from "../../node/storage/stored-database.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import { asStartupError } from "../start/start-errors.ts";
import type { Terminal } from "../terminal.ts";
import type { DbAction, DbOperands } from "./actions.ts";
import { type StoredIdentity, storedPreset } from "./stored-preset.ts";

interface DbOptions extends DbOperands {
  /** Absolute path. */
  dataDir: string;
  /** Value of --network; required only for networks that are not built in. */
  network: string | undefined;
  workingDirectory: string;
  environment: Record<string, string | undefined>;
}

interface Task extends DbOptions {
  print(text: string): Promise<unknown>;
}

type Database = ReplacementDatabase["db"];

/** Maximum number of problems listed individually. */
const MAX_LISTED = 20;
const TABLES_PER_LINE = 500;

const RUNS: Record<DbAction, (task: Task) => Promise<void>> = {
  check,
  repair,
  rewind,
  compact,
  export: exportToFile,
  import: importFromFile,
};

/** Runs `fanal db` on the database of a stopped node and returns the exit code. */
export async function runDb(options: DbOptions, terminal: Terminal): Promise<number> {
  try {
    await RUNS[options.action]({ ...options, print: (text) => terminal.write(`${text}\n`) });
    return EXIT_CODES.ok;
  } catch (error) {
    throw asDbError(options, error);
  }
}

function asDbError({ dataDir, action }: DbOptions, error: unknown): unknown {
  const startError = asStartError(dataDir, error) ?? error;
  return (
    asStartupError(startError, startError instanceof StartError ? adviceOf(startError.kind, action) : undefined) ??
    startError
  );
}

/** Returns advice specific to this command, or undefined to use the default advice for node startup. */
function adviceOf(kind: StartErrorKind, action: DbAction): string | undefined {
  // No node is running, so the command can simply be run again.
  if (kind === "dataDirFailed") return "; fix or free the disk, and try again";
  // LevelDB locks the directory and, when opened, compacts its log into tables.
  if (kind === "dataDirForbidden" && (action === "check" || action === "export")) {
    return "; it must be writable by this user, even for reading: use a copy otherwise";
  }
  if (kind !== "dataDirDamaged") return undefined;
  if (action === "check") return '; "fanal db repair" salvages what is readable; or restore a backup';
  return action === "repair" ? "; restore a backup" : undefined;
}

async function check(task: Task): Promise<void> {
  const { dataDir, print } = task;
  const { tables, tornBytes } = await checkStoredFiles(dataDir, ({ tables: done, of }) => {
    if (done % TABLES_PER_LINE === 0) void print(`Read ${done} of ${of} tables.`);
  });
  await print(`Files intact: ${counted(tables, "table")} and the log.`);
  if (tornBytes > 0)
    await print(`The last write is incomplete after a crash; its ${tornBytes} bytes are dropped at the next start.`);
  const problems = await withDatabase(openStoredDatabase(dataDir), (db) => checkStoredChain(task, db));
  if (problems.length === 0) {
    await print("No problems found.");
    return;
  }
  await list(problems, task);
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  throw damagedError(dataDir, `is damaged (${count}); "fanal db repair" salvages what is readable`);
}

async function repair(task: Task): Promise<void> {
  const { dataDir, print } = task;
  if (await isWhole(task)) {
    await print("No problems found, nothing changed.");
    return;
  }
  await using replacement = await salvageStoredDatabase(dataDir);
  const { db, salvaged } = replacement;
  const config = await configOf(await identityOf(dataDir, db), task, dataDirLocation(dataDir, db));
  const { repairChain } = await import("../../chain/stored/repair-chain.ts");
  const repaired = await repairChain({ config, db });
  if (repaired === null) {
    throw damagedError(
      dataDir,
      "cannot be repaired: it has no readable finalized state. It is unchanged; restore a backup",
    );
  }
  const previousPath = await replacement.swapIn("damaged");
  await list([...salvaged.losses.map((loss) => `Lost: ${loss}.`), ...repaired.dropped], task);
  await print(describeChain(dataDir, repaired));
  await print(`The damaged database was moved to ${previousPath}; delete it when it is no longer needed.`);
}

/** Truncates the chain before a slot. */
async function rewind(task: Task): Promise<void> {
  const { dataDir, print } = task;
  const before = task.slot!;
  await using replacement = await salvageStoredDatabase(dataDir);
  const { db, salvaged } = replacement;
  const [hot, final] = [await db.hotBlocks.last(), await db.finalizedBlocks.lastAtOrBefore(Number.MAX_SAFE_INTEGER)];
  const newest = Math.max(hot?.slot ?? 0, final?.slot ?? 0);
  if (newest < before) {
    await print(`The newest block is that of slot ${newest}, nothing changed.`);
    return;
  }
  const config = await configOf(await identityOf(dataDir, db), task, dataDirLocation(dataDir, db));
  const { repairChain } = await import("../../chain/stored/repair-chain.ts");
  const { rewindDevChain } = await import("../../dev/rewound-chain.ts");
  const cut = await repairChain({ config, db, before });
  if (cut === null) {
    throw new StartupError(
      "dataDirUnusable",
      `The data directory ${dataDir} has no finalized state before slot ${before}. It is unchanged; give a later slot.`,
    );
  }
  await rewindDevChain(db, before);
  const previousPath = await replacement.swapIn("original");
  await list([...salvaged.losses.map((loss) => `Lost: ${loss}.`), ...cut.dropped], task);
  await print(describeChain(dataDir, cut));
  await print(`The original database was moved to ${previousPath}; delete it when it is no longer needed.`);
}

async function compact({ dataDir, print }: Task): Promise<void> {
  const before = await withDatabase(openStoredDatabase(dataDir), async (db) => {
    const bytes = await databaseBytes(dataDir);
    await db.compactAll();
    return bytes;
  });
  await print(`Compacted the database from ${before} to ${await databaseBytes(dataDir)} bytes.`);
}

async function exportToFile({ dataDir, file, workingDirectory, print }: Task): Promise<void> {
  const { exportChain } = await import("../../chain/stored/export-chain.ts");
  const { OVERRIDES } = await import("../../dev/evm/evm-store.ts");
  const counts = await withDatabase(openStoredDatabase(dataDir), async (db) => {
    await identityOf(dataDir, db);
    return withFile(file, () => exportChain(db, resolve(workingDirectory, file), { customs: OVERRIDES }));
  });
  await print(`Exported ${describeCounts(counts)} to ${file}.`);
}

async function importFromFile(task: Task): Promise<void> {
  const { dataDir, file, workingDirectory, print } = task;
  const path = resolve(workingDirectory, file);
  const { readChainFileHeader } = await import("../../chain/stored/chain-file-header.ts");
  const { identity } = await withFile(file, () => readChainFileHeader(path));
  const config = await configOf(identity as StoredIdentity, task, { name: `The file ${file}` });
  const { importChain } = await import("../../chain/stored/import-chain.ts");
  const counts = await withDatabase(openDataDirectory(dataDir, { sync: true }), async (db) => {
    if ((await db.meta.getIdentity()) !== null) {
      throw new StartupError(
        "dataDirMismatch",
        `The data directory ${dataDir} already holds a chain. Give an empty one.`,
      );
    }
    return withFile(file, () => importChain(path, { config, db, onProgress: progressTo(task) }));
  });
  await print(`Imported ${describeCounts(counts)}.`);
}

/** Checks the stored chain and returns the problems found. */
async function checkStoredChain(task: Task, db: Database): Promise<string[]> {
  const config = await configOf(await identityOf(task.dataDir, db), task, dataDirLocation(task.dataDir, db));
  const { checkChain } = await import("../../chain/stored/check-chain.ts");
  const { blocks, finalizedBlocks, hotBlocks, states, sidecars, problems } = await checkChain({
    config,
    db,
    onProgress: progressTo(task),
  });
  await task.print(
    `Read ${counted(blocks, "block")} (${finalizedBlocks} finalized, ${hotBlocks} not yet) and ${counted(states, "state")}.`,
  );
  if (sidecars > 0) await task.print(`Read ${counted(sidecars, "blob or data column sidecar")}.`);
  return problems;
}

async function isWhole(task: Task): Promise<boolean> {
  const { dataDir, print } = task;
  try {
    await checkStoredFiles(dataDir, () => {});
    const problems = await withDatabase(openStoredDatabase(dataDir), (db) => checkStoredChain(task, db));
    return problems.length === 0;
  } catch (error) {
    const known = asStartError(dataDir, error) ?? error;
    if (!(known instanceof StartError && known.kind === "dataDirDamaged")) throw error;
    await print(known.message);
    return false;
  }
}

async function withDatabase<T>(opening: Promise<Database>, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await opening;
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

async function identityOf(dataDir: string, db: Database): Promise<StoredIdentity> {
  const identity = (await db.meta.getIdentity()) as StoredIdentity | null;
  if (identity === null) throw damagedError(dataDir, "holds no chain");
  return identity;
}

/** Sets the preset of the stored chain, then loads the chain code and the configuration. */
async function configOf(
  identity: StoredIdentity,
  { network: givenNetwork, workingDirectory, environment }: Task,
  holder: ChainLocation,
) {
  const { preset, network } = storedPreset(identity, givenNetwork, workingDirectory);
  environment.LODESTAR_PRESET = preset;
  const { useNativeHasher } = await import("../../runtime/native-hasher.ts");
  useNativeHasher();
  const { loadStoredConfig } = await import("../../node/chain-source/stored-config.ts");
  return loadStoredConfig(identity as Parameters<typeof loadStoredConfig>[0], network, holder);
}

async function withFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfFile = error instanceof ChainFileError || (error instanceof Error && "syscall" in error);
    if (!isOfFile) throw error;
    throw new StartupError("unreadableInput", `Invalid file ${file}: ${error.message}.`, error);
  }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function describeChain(
  dataDir: string,
  { firstSlot, newestSlot, finalizedSlot, blocks, states }: RepairedChain,
): string {
  return (
    `${dataDir} now holds the chain from slot ${firstSlot} to slot ${newestSlot}, finalized up to slot ` +
    `${finalizedSlot}, with ${counted(blocks, "block")} and ${counted(states, "state")}.`
  );
}

function describeCounts({ finalizedBlocks, hotBlocks, states }: ExportedCounts): string {
  return `${counted(finalizedBlocks, "finalized block")}, ${counted(hotBlocks, "other")} and ${counted(states, "state")}`;
}

function progressTo({ print }: Task) {
  return ({ blocks, states }: { blocks: number; states: number }) => {
    void print(
      states === 0
        ? `Read ${counted(blocks, "block")}.`
        : `Read ${counted(blocks, "block")} and ${counted(states, "state")}.`,
    );
  };
}

async function list(problems: readonly string[], { print }: Task): Promise<void> {
  for (const problem of problems.slice(0, MAX_LISTED)) await print(problem);
  if (problems.length > MAX_LISTED) await print(`… and ${problems.length - MAX_LISTED} more.`);
}

function damagedError(dataDir: string, problem: string): StartupError {
  return new StartupError("dataDirUnusable", `The data directory ${dataDir} ${problem}.`);
}
