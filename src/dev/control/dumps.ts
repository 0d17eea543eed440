import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ControlError, type DumpControl } from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { ChainFileError } from "../../chain/stored/chain-file.ts";
import { readChainFileHeader } from "../../chain/stored/chain-file-header.ts";
import { exportChain } from "../../chain/stored/export-chain.ts";
import { importChain } from "../../chain/stored/import-chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { errorCode } from "../../errors/error-code.ts";
import {
  ChainMismatchError,
  type DevIdentity,
  requireDevChain,
  requireSameChain,
  requireSameConfig,
} from "../identity.ts";
import type { SlashingProtection } from "../validators/slashing-protection.ts";
import { type ChainReplacer, loadingBeside } from "./chain-replacer.ts";
import type { DevTime } from "./time.ts";

const OWNER_ONLY = 0o700;

interface DevDumpsParts {
  chain: BeaconChain;
  time: DevTime;
  db: BeaconDb;
  history: SlashingProtection;
  replacer: ChainReplacer;
}

const dumpsBeside = (dbPath: string): string => join(dirname(dbPath), "dumps");

const unfinishedName = (): string => `.${randomUUID()}`;
const UNFINISHED = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Deletes temporary files from dumps and loads that a killed process left next to the database. */
export async function removeUnfinishedDumps(dbPath: string): Promise<void> {
  const directory = dumpsBeside(dbPath);
  const names = await readdir(directory).catch(() => []);
  const unfinished = names.filter((name) => UNFINISHED.test(name)).map((name) => join(directory, name));
  for (const path of [loadingBeside(dbPath), ...unfinished]) {
    // Leftover files only use disk space.
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** Dumps the chain to a file and loads it back, in the format described in docs/chain-file.md. */
export class DevDumps implements DumpControl {
  readonly #parts: DevDumpsParts;
  readonly #directory: string;

  constructor(parts: DevDumpsParts) {
    this.#parts = parts;
    this.#directory = dumpsBeside(parts.db.path);
  }

  dump(signal?: AbortSignal): Promise<Uint8Array> {
    return this.#withTemporary(async (path) => {
      await this.#write(path, signal);
      return new Uint8Array(await readFile(path));
    });
  }

  async dumpTo(name: string, signal?: AbortSignal): Promise<string> {
    const path = join(this.#directory, name);
    await mkdir(this.#directory, { recursive: true, mode: OWNER_ONLY });
    try {
      await this.#write(path, signal);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
      throw ControlError.conflict(`The file ${path} exists already. Use another name.`);
    }
    return path;
  }

  load(dump: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#withTemporary(async (path) => {
      await writeFile(path, dump, { flag: "wx" });
      await this.#read(path, signal);
    });
  }

  async loadFrom(name: string, signal?: AbortSignal): Promise<void> {
    const path = join(this.#directory, name);
    try {
      await this.#read(path, signal);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      throw ControlError.notFound(`The file ${name} does not exist in ${this.#directory}.`);
    }
  }

  #write(path: string, signal: AbortSignal | undefined): Promise<void> {
    const { chain, time, db, history } = this.#parts;
    return time.whilePaused(async () => {
      signal?.throwIfAborted();
      await chain.store();
      await history.flush();
      await exportChain(db, path, { isWhole: true, signal });
    });
  }

  #read(path: string, signal: AbortSignal | undefined): Promise<void> {
    const { chain, time, replacer } = this.#parts;
    return time.whilePaused(async () => {
      signal?.throwIfAborted();
      try {
        const { clockSlot } = await this.#requireSameGenesis(path);
        const fill = async (empty: BeaconDb) => {
          await importChain(path, { config: chain.config, db: empty, onProgress: () => signal?.throwIfAborted() });
        };
        await replacer.replace({ fill, clockSlot: clockSlot ?? 0, signal });
      } catch (error) {
        if (!(error instanceof ChainFileError)) throw error;
        throw ControlError.conflict(`The dump cannot be loaded: ${error.message}.`);
      }
    });
  }

  async #requireSameGenesis(path: string) {
    const about = await readChainFileHeader(path);
    const identity = await this.#parts.db.meta.getIdentity();
    requireDevChain(identity);
    try {
      const { genesisValidatorsRoot, config }: DevIdentity = requireSameChain(about.identity, identity);
      if (genesisValidatorsRoot !== identity.genesisValidatorsRoot) {
        throw new ChainMismatchError("a dev chain with another genesis validators root", { isDevChain: true });
      }
      requireSameConfig(config, identity.config);
      return about;
    } catch (error) {
      if (!(error instanceof ChainMismatchError)) throw error;
      throw ControlError.conflict(
        `The dump holds ${error.storedChain}. Only a dump with the same genesis can be loaded into a running chain.`,
      );
    }
  }

  async #withTemporary<T>(work: (path: string) => Promise<T>): Promise<T> {
    await mkdir(this.#directory, { recursive: true, mode: OWNER_ONLY });
    const path = join(this.#directory, unfinishedName());
    try {
      return await work(path);
    } finally {
      await rm(path, { force: true });
    }
  }
}
