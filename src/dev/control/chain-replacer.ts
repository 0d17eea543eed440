import { rm } from "node:fs/promises";
import type { Slot } from "@lodestar/types";
import { ControlError } from "../../api/dev-control.ts";
import { ClosingStack } from "../../async/closing-stack.ts";
import { initialiseDatabase } from "../../chain/anchor/anchor.ts";
import { BeaconChain } from "../../chain/chain.ts";
import { VirtualClock } from "../../chain/clock/virtual-clock.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../chain/settings.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { createMemoryDatabase, openDatabase } from "../../db/open-database.ts";
import { DevExecutionEngine } from "../../execution/dev-engine.ts";
import { NoExecutionEngine } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import { requireDevChain } from "../identity.ts";
import { type SlashingProtection, slashingProtectionStore } from "../validators/slashing-protection.ts";
import type { DevTime } from "./time.ts";

interface ChainReplacerParts {
  chain: BeaconChain;
  clock: VirtualClock;
  time: DevTime;
  db: BeaconDb;
  history: SlashingProtection;
  /** True if the EVM executes the payloads. The EVM follows the chain once the chain has been replaced. */
  hasEvm: boolean;
  /** Called before the chain is replaced. */
  onReplacing(): Promise<void>;
  /** Called after the chain has been replaced, or if replacing it failed. */
  onReplaced(): Promise<void>;
  logger: Logger;
}

/** Directory of the temporary database. A killed process leaves the directory behind. */
export const loadingBeside = (dbPath: string): string => `${dbPath}.loading`;

/** Replaces a running dev chain with another chain that has the same genesis and configuration. */
export class ChainReplacer {
  readonly #parts: ChainReplacerParts;

  constructor(parts: ChainReplacerParts) {
    this.#parts = parts;
  }

  /** Resets the chain to genesis. If aborted, rejects with the signal's reason and leaves the chain unchanged. */
  reset(signal?: AbortSignal): Promise<void> {
    const { chain, time, db } = this.#parts;
    return time.whilePaused(async () => {
      const [state, identity] = [await chain.states.genesis(), await db.meta.getIdentity()];
      requireDevChain(identity);
      if (state === null) {
        throw ControlError.unsupported("The genesis state of this chain is not stored, so it cannot be reset.");
      }
      const fill = (empty: BeaconDb) => initialiseDatabase(empty, chain.config, { state }, identity);
      await this.replace({ fill, clockSlot: 0, signal });
    });
  }

  /**
   * Replaces the chain with the one that `fill` writes to an empty database. First opens the chain in that database, so
   * that a failure changes nothing. Must be called while time is paused.
   */
  async replace({
    fill,
    clockSlot,
    signal,
  }: {
    fill(db: BeaconDb): Promise<void>;
    clockSlot: Slot;
    signal: AbortSignal | undefined;
  }): Promise<void> {
    const { chain, clock, history, onReplacing, onReplaced } = this.#parts;
    await using opened = new ClosingStack();
    const db = await this.#openEmpty(opened);
    await fill(db);
    signal?.throwIfAborted();
    const loaded = await this.#open(db, clockSlot);
    opened.defer(() => loaded.close());
    const signingRecords = await slashingProtectionStore(db).load();
    await onReplacing();
    try {
      await chain.chainSnapshots.replaceBy(loaded.chainSnapshots, () => {
        clock.moveTo(loaded.clock.currentSlot);
        history.replace(signingRecords);
      });
    } finally {
      await onReplaced();
    }
  }

  /** Opens an empty database: in memory if the chain's database is, otherwise next to it. */
  async #openEmpty(opened: ClosingStack): Promise<BeaconDb> {
    const directory = loadingBeside(this.#parts.db.path);
    if (this.#parts.db.isInMemory) {
      const db = await createMemoryDatabase(directory);
      opened.defer(() => db.close());
      return db;
    }
    await rm(directory, { recursive: true, force: true });
    opened.defer(() => rm(directory, { recursive: true, force: true }));
    const db = await openDatabase(directory, { sync: false });
    opened.defer(() => db.close());
    return db;
  }

  async #open(db: BeaconDb, clockSlot: Slot): Promise<BeaconChain> {
    const { chain, hasEvm, logger } = this.#parts;
    const { genesisTime, secondsPerSlot, speed } = chain.clock;
    const newest = await db.hotBlocks.last();
    const clock = new VirtualClock({
      genesisTime,
      secondsPerSlot,
      speed,
      startSlot: Math.max(clockSlot, newest?.slot ?? 0),
      onListenerError: (error) => logger.error("Slot handler of dumped chain failed", { error }),
    });
    return BeaconChain.open({
      config: chain.config,
      db,
      clock,
      settings: DEFAULT_CHAIN_SETTINGS,
      engine: hasEvm ? new NoExecutionEngine() : new DevExecutionEngine(),
      logger,
    });
  }
}
