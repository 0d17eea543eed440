import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { finalizedAndHot, storeChain, write } from "../../../test/support/chain/stored/linked-blocks.ts";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { ChainFileWriter, EntryKind } from "../../chain/stored/chain-file.ts";
import { openDatabase } from "../../db/open-database.ts";
import { EXIT_CODES, StartupError } from "../exit.ts";
import { runDb } from "./db.ts";

const { finalized, hot, last } = finalizedAndHot();
const IDENTITY = {
  kind: "dev",
  preset: "minimal",
  validators: 8,
  forks: [],
  slotSeconds: 2,
  genesisTime: 0,
  genesisValidatorsRoot: `0x${"00".repeat(32)}`,
};

/** Creates a data directory with a small chain, and index entries for `missingBlocks` missing blocks. */
async function dataDirectory({ missingBlocks = 0 } = {}): Promise<string> {
  const { path, remove } = removableDirectory();
  onTestFinished(remove);
  const db = await openDatabase(join(path, "beacon-db"), { sync: false });
  await storeChain(db, { finalized, hot });
  await write(db, (batch) => {
    batch.meta.putIdentity(IDENTITY);
    for (let n = 1; n <= missingBlocks; n++) batch.hotBlocks.put(100 + n, new Uint8Array(32).fill(n), last.root);
  });
  await db.close();
  return path;
}

type Operands = Pick<Parameters<typeof runDb>[0], "action" | "slot"> & { file?: string };

/** Runs an action. Returns its output and error. */
async function run(dataDir: string, { action, file = "", slot }: Operands) {
  const lines: string[] = [];
  const terminal = {
    isInteractive: false,
    write: async (chunk: string | Uint8Array) => lines.push(String(chunk).trimEnd()) > 0,
    writeError: () => {},
    readInput: async () => Buffer.alloc(0),
  };
  const options = {
    action,
    file,
    ...(slot && { slot }),
    dataDir,
    network: undefined,
    workingDirectory: dataDir,
    environment: {},
  };
  const error = await runDb(options, terminal).then(
    (code) => expect(code).toBe(EXIT_CODES.ok),
    (thrown: unknown) => thrown,
  );
  return { lines, error };
}

it("lists up to twenty problems, and counts the others", async () => {
  const dataDir = await dataDirectory({ missingBlocks: 21 });
  const { lines, error } = await run(dataDir, { action: "check" });
  expect(lines.filter((line) => line.endsWith("is missing."))).toHaveLength(20);
  expect(lines.at(-1)).toBe("… and 1 more.");
  expect(error).toEqual(
    new StartupError(
      "dataDirUnusable",
      `The data directory ${dataDir} is damaged (21 problems); "fanal db repair" salvages what is readable.`,
    ),
  );
});

it("counts a single problem in the singular", async () => {
  const dataDir = await dataDirectory({ missingBlocks: 1 });
  const { error } = await run(dataDir, { action: "check" });
  expect(error).toMatchObject({ message: expect.stringContaining("is damaged (1 problem);") });
});

it("repairs only a database with problems", async () => {
  const dataDir = await dataDirectory({ missingBlocks: 1 });
  const { lines } = await run(dataDir, { action: "repair" });
  expect(lines).toContainEqual(
    `${dataDir} now holds the chain from slot 4 to slot 6, finalized up to slot 4, with 3 blocks and 1 state.`,
  );
  const again = await run(dataDir, { action: "repair" });
  expect(again.lines.at(-1)).toBe("No problems found, nothing changed.");
});

it("rewinds only to a finalized state, and only a chain with later blocks", async () => {
  const dataDir = await dataDirectory();
  expect((await run(dataDir, { action: "rewind", slot: 7 })).lines).toEqual([
    "The newest block is that of slot 6, nothing changed.",
  ]);
  expect((await run(dataDir, { action: "rewind", slot: 4 })).error).toEqual(
    new StartupError(
      "dataDirUnusable",
      `The data directory ${dataDir} has no finalized state before slot 4. It is unchanged; give a later slot.`,
    ),
  );
  expect((await run(dataDir, { action: "rewind", slot: 6 })).lines).toEqual([
    `${dataDir} now holds the chain from slot 4 to slot 5, finalized up to slot 4, with 2 blocks and 1 state.`,
    `The original database was moved to ${dataDir}/beacon-db.original; delete it when it is no longer needed.`,
  ]);
  expect((await run(dataDir, { action: "check" })).lines.at(-1)).toBe("No problems found.");
});

it("names the file that cannot be read or written, with the reason", async () => {
  const dataDir = await dataDirectory();
  const missing = await run(dataDir, { action: "import", file: "missing" });
  expect(missing.error).toMatchObject({ exitCode: EXIT_CODES.unreadableInput });
  expect(missing.error).toMatchObject({ message: expect.stringMatching(/^Invalid file missing: ENOENT: .*\.$/) });
  const file = await ChainFileWriter.create(join(dataDir, "other"));
  await file.write(EntryKind.end, new Uint8Array());
  await file.close();
  const other = await run(dataDir, { action: "import", file: "other" });
  expect(other.error).toMatchObject({ message: "Invalid file other: it has no valid chain header." });
  const existing = await run(dataDir, { action: "export", file: "other" });
  expect(existing.error).toMatchObject({ message: expect.stringMatching(/^Invalid file other: EEXIST: /) });
});

it("imports only into a directory without a chain", async () => {
  const dataDir = await dataDirectory();
  expect((await run(dataDir, { action: "export", file: "chain" })).lines).toEqual([
    "Exported 4 finalized blocks, 2 others and 1 state to chain.",
  ]);
  expect((await run(dataDir, { action: "import", file: "chain" })).error).toEqual(
    new StartupError("dataDirMismatch", `The data directory ${dataDir} already holds a chain. Give an empty one.`),
  );
});
