import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex, toRootHex } from "@lodestar/utils";
import { ClassicLevel } from "classic-level";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { readDbOperands } from "../../src/cli/db/actions.ts";
import { runDb } from "../../src/cli/db/db.ts";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { SCHEMA_VERSION } from "../../src/db/open-database.ts";
import { makeHistory, openDevChain, QUIET, startDevChain } from "../support/chain/dev-chain.ts";
import { answersOf } from "../support/db/damage.ts";
import { inDataDirectory } from "../support/directories/data-directory.ts";
import { type RemovableDirectory, removableDirectory } from "../support/directories/removable-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";

const HEAD_SLOT = 7 * SLOTS_PER_EPOCH + 3;

let stored: RemovableDirectory;
let whole: Awaited<ReturnType<typeof answersOf>>;

beforeAll(async () => {
  stored = removableDirectory();
  await makeHistory(HEAD_SLOT - SLOTS_PER_EPOCH, {}, stored.path);
  // Empty slots, whose states are only in the state index.
  await makeHistory(HEAD_SLOT - SLOTS_PER_EPOCH + 6, QUIET, stored.path);
  await makeHistory(HEAD_SLOT, {}, stored.path);
  const copy = removableDirectory();
  whole = await answersOfDirectory(copied(stored.path, copy.path));
  copy.remove();
});
afterAll(() => stored.remove());

function copied(from: string, to: string): string {
  cpSync(from, to, { recursive: true });
  return to;
}

async function answersOfDirectory(directory: string) {
  const { devChain, close, complaints } = await startDevChain(QUIET, directory);
  try {
    expect(complaints).toEqual([]);
    return await answersOf(devChain.chain);
  } finally {
    await close();
  }
}

/** Runs `fanal db` and returns its output. Throws its error. */
async function db(dataDir: string, ...operands: string[]): Promise<string> {
  return dbOfNetwork(undefined, dataDir, ...operands);
}

async function dbOfNetwork(network: string | undefined, dataDir: string, ...operands: string[]): Promise<string> {
  let printed = "";
  const code = await runDb(
    { ...readDbOperands(operands), dataDir, network, workingDirectory: "/", environment: {} },
    {
      isInteractive: false,
      write: async (chunk) => {
        printed += String(chunk);
        return true;
      },
      writeError: () => {},
      readInput: async () => Buffer.alloc(0),
    },
  );
  expect(code).toBe(EXIT_CODES.ok);
  return printed;
}

function damage(dataDir: string, pattern: RegExp, change: (bytes: Buffer) => void): void {
  const path = join(dataDir, "beacon-db");
  for (const name of readdirSync(path).filter((file) => pattern.test(file))) {
    const bytes = readFileSync(join(path, name));
    change(bytes);
    writeFileSync(join(path, name), bytes);
  }
}

it("an intact database passes the check, is not repaired, and can be compacted", async () => {
  const directory = copied(stored.path, tempDirectory());
  expect(await db(directory, "check")).toMatch(/\nNo problems found\.\n$/);
  expect(await db(directory, "repair")).toMatch(/nothing changed\.\n$/);
  expect(readdirSync(directory)).toEqual(["beacon-db"]);
  expect(await db(directory, "compact")).toMatch(/^Compacted the database from \d+ to \d+ bytes\.\n$/);
  expect(await answersOfDirectory(directory)).toEqual(whole);
});

it("damage within intact files is found by reading the chain, and repaired by dropping it", async () => {
  const directory = copied(stored.path, tempDirectory());
  await inDataDirectory(directory, async (stored) => {
    const batch = stored.batch();
    batch.blocks.delete(whole[3]!.root!);
    await batch.write();
  });
  await expect(db(directory, "check")).rejects.toMatchObject({
    exitCode: EXIT_CODES.dataDirUnusable,
    message: expect.stringMatching(/is damaged \(1 problem\)/),
  });
  const printed = await db(directory, "repair");
  expect(printed).toMatch(/now holds the chain from slot \d+ to slot \d+, finalized up to slot \d+/);
  expect(await db(directory, "check")).toMatch(/No problems found/);
  const answers = await answersOfDirectory(directory);
  const first = Number(printed.match(/from slot (\d+)/)![1]);
  expect(first).toBeGreaterThan(3);
  expect(answers.slice(first)).toEqual(whole.slice(first));
});

it("damaged blocks and states are listed without internal paths", async () => {
  const directory = copied(stored.path, tempDirectory());
  const { root } = whole[HEAD_SLOT]!;
  await inDataDirectory(directory, async (stored) => {
    const batch = stored.batch();
    batch.blocks.put(root!, Uint8Array.of(1, 2, 3));
    await batch.write();
  });
  expect(await db(directory, "repair")).toMatch(
    new RegExp(`^Block ${root} cannot be decoded\\.\n${directory} now holds`, "m"),
  );
});

if (isFullTier) {
  it("a patch becomes a plain state when its base is dropped", async () => {
    const directory = tempDirectory();
    await makeHistory(HEAD_SLOT, {}, directory);
    const before = await answersOfDirectory(copied(directory, tempDirectory()));
    const finalState = () =>
      inDataDirectory(directory, async (stored) => (await Array.fromAsync(stored.snapshots.entries())).at(-1)!);
    expect((await finalState()).packing?.base?.slot).toBe(0);
    await inDataDirectory(directory, async (stored) => {
      const batch = stored.batch();
      batch.blocks.delete(before[3]!.root!);
      await batch.write();
    });
    const first = Number((await db(directory, "repair")).match(/from slot (\d+)/)![1]);
    expect((await finalState()).packing).toBeNull();
    expect(first).toBeGreaterThan(3);
    expect((await answersOfDirectory(directory)).slice(first)).toEqual(before.slice(first));
  });
}

it("a damaged database is repaired to a correct chain, and the original is kept", async () => {
  const tables = [/\.ldb$/, (bytes: Buffer) => (bytes[Math.floor(bytes.length / 3)]! ^= 4)] as const;
  const log = [/\.log$/, (bytes: Buffer) => (bytes[Math.floor(bytes.length / 2)]! ^= 4)] as const;
  const manifest = [/^MANIFEST/, (bytes: Buffer) => bytes.fill(0)] as const;
  const current = [/^CURRENT$/, (bytes: Buffer) => bytes.fill(0)] as const;
  for (const [pattern, change] of variants({ fast: [tables, manifest], full: [tables, log, manifest, current] })) {
    const directory = copied(stored.path, tempDirectory());
    damage(directory, pattern, change);
    await expect(db(directory, "check"), String(pattern)).rejects.toMatchObject({
      exitCode: EXIT_CODES.dataDirUnusable,
      message: expect.stringMatching(/[^;]; "fanal db repair" salvages what is readable; or restore a backup\.$/),
    });
    expect(await db(directory, "repair")).toMatch(/The damaged database was moved to \S+beacon-db\.damaged/);
    expect(existsSync(join(directory, "beacon-db.damaged", "LOCK"))).toBe(true);
    expect(await db(directory, "check")).toMatch(/No problems found/);
    const { devChain, close } = await startDevChain(QUIET, directory);
    for (const [slot, { root, stateRoot }] of (await answersOf(devChain.chain)).entries()) {
      if (root !== undefined) expect({ root, stateRoot }, `${pattern} slot ${slot}`).toEqual(whole[slot]);
    }
    await close();
  }
});

it("a database without a finalized state is not repaired, and unchanged", async () => {
  const directory = copied(stored.path, tempDirectory());
  damage(directory, /\.(ldb|log)$/, (bytes) => bytes.fill(0x55));
  const names = readdirSync(join(directory, "beacon-db")).sort();
  await expect(db(directory, "repair")).rejects.toMatchObject({ exitCode: EXIT_CODES.dataDirUnusable });
  expect(readdirSync(directory)).toEqual(["beacon-db"]);
  expect(readdirSync(join(directory, "beacon-db")).sort()).toEqual(names);
});

it("an imported chain equals the exported one", async () => {
  const file = join(tempDirectory(), "chain");
  expect(await db(stored.path, "export", file)).toMatch(
    /^Exported \d+ finalized blocks, \d+ others and \d+ states to /,
  );
  const directory = join(tempDirectory(), "new");
  await db(directory, "import", file);
  expect(await answersOfDirectory(directory)).toEqual(whole);
  const { devChain, close } = await startDevChain(QUIET, directory);
  // Each state is found by root, also of empty slots.
  for (const { stateRoot } of whole) expect(await devChain.chain.states.byRoot(stateRoot!)).not.toBeNull();
  expect(whole.filter(({ root }) => root === undefined)).toHaveLength(6);
  await close();
  expect(await db(directory, "check")).toMatch(/No problems found/);
  await expect(db(directory, "import", file)).rejects.toMatchObject({ exitCode: EXIT_CODES.dataDirMismatch });
  await expect(db(stored.path, "export", file)).rejects.toMatchObject({ exitCode: EXIT_CODES.unreadableInput });

  const bytes = readFileSync(file);
  const broken = join(tempDirectory(), "broken");
  const flipped = Buffer.from(bytes);
  flipped[Math.floor(bytes.length / 2)]! ^= 1;
  for (const wrong of [bytes.subarray(0, bytes.length - 40), bytes.subarray(0, 3000), flipped, Buffer.from("chain?")]) {
    writeFileSync(broken, wrong);
    const empty = join(tempDirectory(), "empty");
    await expect(db(empty, "import", broken)).rejects.toMatchObject({ exitCode: EXIT_CODES.unreadableInput });
    // It contains no chain, so the import can be retried.
    if (existsSync(empty)) await db(empty, "import", file);
    rmSync(empty, { recursive: true, force: true });
  }
});

if (isFullTier) {
  it("an imported chain with the EVM starts, and continues", async () => {
    const [exported, imported] = [tempDirectory(), join(tempDirectory(), "new")];
    const file = join(tempDirectory(), "chain");
    const open = (directory: string) =>
      ProgramHere.dev(["--data-dir", directory, "--validators", "8", "--warmup-epochs", "3", "--no-auto"], {
        env: { FANAL_EVM: "true" },
      });
    const source = await open(exported);
    await source.untilLine(/Dev chain is running/);
    const changed = `0x${"c0".repeat(20)}`;
    await source.call("anvil_setBalance", [changed, "0x7"]);
    await source.call("dev_advance", [1]);
    await source.stop();
    await db(exported, "export", file);
    await db(imported, "import", file);
    const program = await open(imported);
    await program.untilLine(/Dev chain is running/);
    expect(await program.call("eth_getBalance", [changed, "latest"])).toBe("0x7");
    expect(await program.call("dev_advance", [1])).toMatchObject({ head_slot: "26" });
    expect(await program.call("eth_blockNumber")).toBe("0x1a");
  });
}

it("a directory with an aborted import contains no chain, and can start a new one", async () => {
  const file = join(tempDirectory(), "chain");
  await db(stored.path, "export", file);
  writeFileSync(file, readFileSync(file).subarray(0, -40));
  const directory = join(tempDirectory(), "new");
  await expect(db(directory, "import", file)).rejects.toThrow("damaged or truncated");
  const begun = await startDevChain(QUIET, directory);
  expect(begun.devChain.isNew).toBe(true);
  await begun.close();
  expect(await answersOfDirectory(directory)).toHaveLength(1);
  expect(await db(directory, "check")).toMatch(/^Read 1 block .* and 1 state\.\nNo problems found\.\n$/m);
});

/** Makes system calls of LevelDB in a directory fail after some successful ones. */
function refuseLevel(reason: string, method: "batch" | "_open", name: string, after = 0): () => void {
  const untouched = ClassicLevel.prototype[method as "batch"];
  let calls = 0;
  const refused = vi.spyOn(ClassicLevel.prototype, method as "batch").mockImplementation(function (
    this: ClassicLevel,
    ...args: unknown[]
  ) {
    if (!this.location.endsWith(`/${name}`) || ++calls <= after) return Reflect.apply(untouched, this, args);
    throw Object.assign(new Error(`IO error: ${this.location}/${reason}`), { code: "LEVEL_IO_ERROR" });
  });
  onTestFinished(() => refused.mockRestore());
  return () => refused.mockRestore();
}

const fillDisk = refuseLevel.bind(null, "000005.log: No space left on device");

if (isFullTier) {
  it("a full disk ends an import and a repair with one sentence, and both can be repeated", async () => {
    const file = join(tempDirectory(), "chain");
    await db(stored.path, "export", file);
    const imported = join(tempDirectory(), "new");
    const repaired = copied(stored.path, tempDirectory());
    rmSync(join(repaired, "beacon-db", "CURRENT"));
    for (const [directory, method, after, ...operands] of [
      [imported, "_open", 1, "import", file],
      [imported, "batch", 0, "import", file],
      [imported, "batch", 9, "import", file],
      [repaired, "_open", 0, "repair"],
      [repaired, "_open", 2, "repair"],
      [repaired, "batch", 3, "repair"],
    ] as const) {
      const free = fillDisk(method, directory === imported ? "beacon-db" : "beacon-db.new", after);
      await expect(db(directory, ...operands), `${operands[0]} ${method} ${after}`).rejects.toMatchObject({
        name: "StartupError",
        exitCode: EXIT_CODES.dataDirFailed,
        message: expect.stringMatching(
          /^The database at \S+ could not be written: .*No space left on device; fix or free the disk, and try again\.$/,
        ),
      });
      free();
    }
    expect(readdirSync(repaired)).toEqual(["beacon-db"]);
    await db(imported, "import", file);
    expect(await answersOfDirectory(imported)).toEqual(whole);
    await db(repaired, "repair");
    expect(await answersOfDirectory(repaired)).toEqual(whole);
  });
}

/** Turns the chain of a data directory into that of a network. Returns the network directory. */
async function asChainOfNetwork(directory: string): Promise<string> {
  const networkDirectory = join(tempDirectory(), "smallnet");
  const { devChain, close } = await startDevChain({ ...QUIET, networkDirectory }, directory);
  const { time, validatorsRoot } = devChain.chain.genesis;
  const { GENESIS_FORK_VERSION } = devChain.config;
  await close();
  await inDataDirectory(directory, async (stored) => {
    const batch = stored.batch();
    batch.meta.putIdentity({
      kind: "node",
      network: "smallnet",
      genesisTime: time,
      genesisValidatorsRoot: toRootHex(validatorsRoot),
      genesisForkVersion: toHex(GENESIS_FORK_VERSION),
      forkEpochs: { phase0: 0 },
    });
    await batch.write();
  });
  return networkDirectory;
}

it("an intact database does not count as damaged if another network is given", async () => {
  const directory = copied(stored.path, tempDirectory());
  const network = await asChainOfNetwork(directory);
  const other = join(tempDirectory(), "othernet");
  await openDevChain({ validators: 9, networkDirectory: other });
  const file = join(tempDirectory(), "chain");
  await dbOfNetwork(network, directory, "export", file);
  const otherChain = /holds another chain \(its genesis validators root is .*\), not the chain of network "othernet"/;
  for (const action of ["check", "repair"]) {
    expect(await dbOfNetwork(network, directory, action)).toMatch(/No problems found/);
    await expect(dbOfNetwork(other, directory, action), action).rejects.toMatchObject({
      exitCode: EXIT_CODES.dataDirMismatch,
      message: expect.stringMatching(otherChain),
    });
  }
  const config = readFileSync(join(network, "config.yaml"), "utf8");
  writeFileSync(join(network, "config.yaml"), config.replace(/^(ALTAIR_FORK_EPOCH): .*/m, "$1: 2"));
  for (const action of ["check", "repair"]) {
    await expect(dbOfNetwork(network, directory, action), action).rejects.toMatchObject({
      exitCode: EXIT_CODES.dataDirMismatch,
      message: expect.stringMatching(/with another fork schedule: altair begins never there and at epoch 2 now; /),
    });
  }
  expect(readdirSync(directory)).toEqual(["beacon-db"]);
  await expect(dbOfNetwork(other, join(tempDirectory(), "new"), "import", file)).rejects.toMatchObject({
    exitCode: EXIT_CODES.unreadableInput,
    message: expect.stringMatching(otherChain),
  });
});

it("a database in use, or a missing one, is unchanged", async () => {
  const directory = copied(stored.path, tempDirectory());
  await openDevChain(QUIET, directory);
  for (const operands of [["check"], ["repair"], ["compact"], ["export", "/tmp/never"], ["import", "/tmp/never"]]) {
    const exitCode = operands[0] === "import" ? EXIT_CODES.unreadableInput : EXIT_CODES.dataDirInUse;
    await expect(db(directory, ...operands), operands[0]).rejects.toMatchObject({ exitCode });
  }
  await expect(db(tempDirectory(), "check")).rejects.toThrow(/holds no database/);
});

it("an inaccessible database counts neither as missing nor as damaged", async () => {
  // A self-referencing link fails even for root. A foreign directory fails with EACCES.
  for (const name of ["", "beacon-db", "beacon-db/CURRENT"]) {
    const directory = copied(stored.path, join(tempDirectory(), "data"));
    const path = join(directory, name);
    rmSync(path, { recursive: true });
    symlinkSync(path, path);
    for (const operands of [["check"], ["repair"], ["compact"], ["export", "/tmp/never"]]) {
      await expect(db(directory, ...operands), `${operands[0]} ${name}`).rejects.toMatchObject({
        name: "StartupError",
        exitCode: EXIT_CODES.dataDirUnusable,
        message: expect.stringMatching(new RegExp(`^The data directory ${directory} cannot be opened: ELOOP: `)),
      });
    }
  }
});

it("read-only commands and rejected starts do not upgrade an older database", async () => {
  const directory = copied(stored.path, tempDirectory());
  const version = (db: BeaconDb) => db.meta.getSchemaVersion();
  await inDataDirectory(directory, async (stored) => {
    const batch = stored.batch();
    batch.meta.putSchemaVersion(1);
    await batch.write();
  });
  await db(directory, "check");
  await db(directory, "repair");
  await db(directory, "export", join(tempDirectory(), "chain"));
  await db(directory, "compact");
  await expect(startDevChain({ ...QUIET, validators: 17 }, directory)).rejects.toThrow(/other parameters/);
  expect(await inDataDirectory(directory, version)).toBe(1);
  await answersOfDirectory(directory);
  expect(await inDataDirectory(directory, version)).toBe(SCHEMA_VERSION);
});

it("a read-only database does not count as damaged", async () => {
  const directory = copied(stored.path, tempDirectory());
  for (const reason of ["LOCK: Permission denied", "LOCK: Read-only file system"]) {
    const allow = refuseLevel(reason, "_open", "beacon-db");
    const place = join(directory, "beacon-db");
    const fact = `The data directory ${directory} cannot be opened: IO error: ${place}/${reason}; `;
    await expect(startDevChain(QUIET, directory)).rejects.toMatchObject({ kind: "dataDirForbidden" });
    await expect(db(directory, "check")).rejects.toMatchObject({
      exitCode: EXIT_CODES.dataDirUnusable,
      message: `${fact}it must be writable by this user, even for reading: use a copy otherwise.`,
    });
    await expect(db(directory, "compact")).rejects.toMatchObject({
      message: `${fact}it must be writable by this user.`,
    });
    allow();
  }
});

it("a dangling link is neither a database nor a place for a new one", async () => {
  const directory = join(tempDirectory(), "data");
  const isLink = (path: string) => ({
    message: expect.stringContaining(
      `cannot be opened: ${path} is a symbolic link to /nowhere/disk, which does not exist.`,
    ),
  });
  symlinkSync("/nowhere/disk", directory);
  await expect(db(directory, "check")).rejects.toMatchObject(isLink(directory));
  await expect(startDevChain(QUIET, directory)).rejects.toMatchObject(isLink(directory));
  rmSync(directory);
  mkdirSync(directory);
  symlinkSync("/nowhere/disk", join(directory, "beacon-db"));
  await expect(db(directory, "check")).rejects.toMatchObject(isLink(join(directory, "beacon-db")));
  await expect(startDevChain(QUIET, directory)).rejects.toMatchObject(isLink(join(directory, "beacon-db")));
});

it("invalid arguments are explained", () => {
  expect(() => readDbOperands([])).toThrow("Missing action. Give one of check");
  expect(() => readDbOperands(["chek"])).toThrow(/^Unknown action "chek" of "fanal db"\. .* Did you mean check\?$/);
  expect(() => readDbOperands(["export"])).toThrow('"fanal db export" requires a file name.');
  expect(() => readDbOperands(["check", "x"])).toThrow('Unexpected argument "x"');
  expect(readDbOperands(["import", "x"])).toEqual({ action: "import", file: "x" });
});
