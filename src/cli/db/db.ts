import { resolve } from "node:path";
import { ChainFileError } from "../../chain/stored/chain-file.ts";
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
  /** An absolute path. */
  dataDir: string;
  /** As it was given; only a network that is not built in has to be. */
  network: string | undefined;
  workingDirectory: string;
  environment: Record<string, string | undefined>;
}

interface Task extends DbOptions {
  say(text: string): Promise<unknown>;
}

type Database = ReplacementDatabase["db"];

/** At most so many of the things that are wrong are listed. */
const LISTED = 20;
const TABLES_PER_LINE = 500;

const RUNS: Record<DbAction, (task: Task) => Promise<void>> = {
  check,
  repair,
  compact,
  export: exportToFile,
  import: importFromFile,
};

/** `fanal db`: looks after the database of a node that does not run; the result is the exit code. */
export async function runDb(options: DbOptions, terminal: Terminal): Promise<number> {
  try {
    await RUNS[options.action]({ ...options, say: (text) => terminal.write(`${text}\n`) });
    return EXIT_CODES.ok;
  } catch (error) {
    throw asDbError(options, error);
  }
}

function asDbError({ dataDir, action }: DbOptions, error: unknown): unknown {
  const known = asStartError(dataDir, error) ?? error;
  return asStartupError(known, known instanceof StartError ? adviceOf(known.kind, action) : undefined) ?? known;
}

/** Undefined where it is what whoever starts a node is advised to do. */
function adviceOf(kind: StartErrorKind, action: DbAction): string | undefined {
  // It belongs to no node that runs: what there was stays, and the command can be given again.
  if (kind === "dataDirFailed") return "; mend or free the disk, and try again";
  // LevelDB locks what it opens, and writes what its log holds into tables.
  if (kind === "dataDirForbidden" && (action === "check" || action === "export")) {
    return "; this user has to be able to write to it, also where it is only to be read: give a copy of it otherwise";
  }
  if (kind !== "dataDirDamaged") return undefined;
  if (action === "check") return '; "fanal db repair" keeps what can be kept; or restore it from a copy';
  return action === "repair" ? "; restore it from a copy" : undefined;
}

async function check(task: Task): Promise<void> {
  const { dataDir, say } = task;
  const { tables, tornBytes } = await checkStoredFiles(dataDir, ({ tables: done, of }) => {
    if (done % TABLES_PER_LINE === 0) void say(`${done} of ${of} tables are read.`);
  });
  await say(`The files are whole: ${tables} tables, and the log.`);
  if (tornBytes > 0) await say(`A crash cut the last write short; a start leaves its ${tornBytes} bytes out.`);
  const problems = await withDatabase(openStoredDatabase(dataDir), (db) => checkStoredChain(task, db));
  if (problems.length === 0) {
    await say("Nothing is wrong.");
    return;
  }
  await list(problems, task);
  const count = problems.length === 1 ? "one thing is" : `${problems.length} things are`;
  throw damaged(dataDir, `is damaged: ${count} wrong; "fanal db repair" keeps what can be kept`);
}

async function repair(task: Task): Promise<void> {
  const { dataDir, say } = task;
  if (await isWhole(task)) {
    await say("Nothing is wrong, so nothing is changed.");
    return;
  }
  await using replacement = await salvageStoredDatabase(dataDir);
  const { db, salvaged } = replacement;
  const config = await configOf(await identityOf(dataDir, db), task, dataDirLocation(dataDir, db));
  const { repairChain } = await import("../../chain/stored/repair-chain.ts");
  const mended = await repairChain({ config, db });
  if (mended === null) {
    throw damaged(
      dataDir,
      "cannot be repaired: no finalized state is left in it. It stays as it is; restore a copy of it",
    );
  }
  const aside = await replacement.swapIn();
  await list([...salvaged.losses.map((loss) => `Lost: ${loss}.`), ...mended.dropped], task);
  await say(
    `${dataDir} holds the chain from slot ${mended.firstSlot} to slot ${mended.newestSlot} now, final up to slot ` +
      `${mended.finalizedSlot}, with ${mended.blocks} blocks and ${mended.states} states.`,
  );
  await say(`The damaged database is kept as ${aside}; delete it when all is well.`);
}

async function compact({ dataDir, say }: Task): Promise<void> {
  const before = await withDatabase(openStoredDatabase(dataDir), async (db) => {
    const bytes = await databaseBytes(dataDir);
    await db.compactAll();
    return bytes;
  });
  await say(`The database takes ${await databaseBytes(dataDir)} bytes; it took ${before}.`);
}

async function exportToFile({ dataDir, file, workingDirectory, say }: Task): Promise<void> {
  const { exportChain } = await import("../../chain/stored/export-chain.ts");
  const counts = await withDatabase(openStoredDatabase(dataDir), async (db) => {
    await identityOf(dataDir, db);
    return withFile(file, () => exportChain(db, resolve(workingDirectory, file)));
  });
  await say(
    `${counts.finalizedBlocks} final blocks, ${counts.hotBlocks} others and ${counts.states} states are in ${file}.`,
  );
}

async function importFromFile(task: Task): Promise<void> {
  const { dataDir, file, workingDirectory, say } = task;
  const path = resolve(workingDirectory, file);
  const { readChainFileHeader } = await import("../../chain/stored/chain-file-header.ts");
  const { identity } = await withFile(file, () => readChainFileHeader(path));
  const config = await configOf(identity as StoredIdentity, task, { name: `The file ${file}` });
  const { importChain } = await import("../../chain/stored/import-chain.ts");
  const counts = await withDatabase(openDataDirectory(dataDir, { sync: true }), async (db) => {
    if ((await db.meta.getIdentity()) !== null) {
      throw new StartupError(
        "dataDirMismatch",
        `The data directory ${dataDir} holds a chain already; give an empty one.`,
      );
    }
    return withFile(file, () => importChain(path, { config, db, onProgress: progressTo(task) }));
  });
  await say(
    `${counts.finalizedBlocks} final blocks, ${counts.hotBlocks} others and ${counts.states} states are in ${dataDir}.`,
  );
}

/** Tells what is wrong with the chain that a database holds. */
async function checkStoredChain(task: Task, db: Database): Promise<string[]> {
  const config = await configOf(await identityOf(task.dataDir, db), task, dataDirLocation(task.dataDir, db));
  const { checkChain } = await import("../../chain/stored/check-chain.ts");
  const { blocks, finalizedBlocks, hotBlocks, states, sidecars, problems } = await checkChain({
    config,
    db,
    onProgress: progressTo(task),
  });
  await task.say(
    `${blocks} blocks and ${states} states are read: ${finalizedBlocks} blocks are final, ${hotBlocks} are not yet.`,
  );
  if (sidecars > 0) await task.say(`${sidecars} sidecars of blobs and columns are read.`);
  return problems;
}

async function isWhole(task: Task): Promise<boolean> {
  const { dataDir, say } = task;
  try {
    await checkStoredFiles(dataDir, () => {});
    const problems = await withDatabase(openStoredDatabase(dataDir), (db) => checkStoredChain(task, db));
    return problems.length === 0;
  } catch (error) {
    const known = asStartError(dataDir, error) ?? error;
    if (!(known instanceof StartError && known.kind === "dataDirDamaged")) throw error;
    await say(known.message);
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
  if (identity === null) throw damaged(dataDir, "holds no chain");
  return identity;
}

/** Chooses the preset, and loads the code of chains only then. */
async function configOf(
  identity: StoredIdentity,
  { network: given, workingDirectory, environment }: Task,
  holder: ChainLocation,
) {
  const { preset, network } = storedPreset(identity, given, workingDirectory);
  environment.LODESTAR_PRESET = preset;
  const { useNativeHasher } = await import("../../chain/native-hasher.ts");
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
    throw new StartupError("unreadableInput", `The file ${file} cannot be used: ${error.message}.`, error);
  }
}

function progressTo({ say }: Task) {
  return ({ blocks, states }: { blocks: number; states: number }) => {
    void say(states === 0 ? `${blocks} blocks are read.` : `${blocks} blocks and ${states} states are read.`);
  };
}

async function list(problems: readonly string[], { say }: Task): Promise<void> {
  for (const problem of problems.slice(0, LISTED)) await say(problem);
  if (problems.length > LISTED) await say(`… and ${problems.length - LISTED} more.`);
}

function damaged(dataDir: string, what: string): StartupError {
  return new StartupError("dataDirUnusable", `The data directory ${dataDir} ${what}.`);
}
