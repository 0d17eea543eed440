import { join } from "node:path";
import { createPubkeyCache } from "@lodestar/state-transition";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import { initialiseDatabase } from "../../src/chain/anchor.ts";
import { BeaconChain } from "../../src/chain/chain.ts";
import { VirtualClock } from "../../src/chain/clock/virtual-clock.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import type { RecordedChain } from "./record-chain.ts";

export interface PipelineOptions {
  /** Whether every write waits for the disk, as on a node of a network; a dev chain leaves that to the operating system. */
  sync: boolean;
}

/** The node's own way of taking a block, on a database that held nothing but genesis at first. */
export class PipelineImport {
  readonly chain: BeaconChain;
  readonly db: BeaconDb;
  readonly engine: DevExecutionEngine;
  readonly #clock: VirtualClock;

  static async open(directory: string, recorded: RecordedChain, { sync }: PipelineOptions): Promise<PipelineImport> {
    const { config, genesisTime, genesisState } = recorded;
    const db = await openDatabase(join(directory, "beacon-db"), { sync });
    const state = config.getForkTypes(0).BeaconState.deserializeToViewDU(genesisState);
    await initialiseDatabase(db, config, { state }, { kind: "bench" });
    const { logger } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
    const clock = new VirtualClock({
      genesisTime,
      secondsPerSlot: config.SECONDS_PER_SLOT,
      startSlot: 0,
      speed: 1,
      onListenerError: (error, slot) => logger.error("The work of a slot failed", { slot, error }),
    });
    const engine = new DevExecutionEngine();
    const pubkeyCache = createPubkeyCache();
    const chain = await BeaconChain.open({ config, db, clock, engine, pubkeyCache, logger });
    chain.start();
    return new PipelineImport(chain, db, engine, clock);
  }

  private constructor(chain: BeaconChain, db: BeaconDb, engine: DevExecutionEngine, clock: VirtualClock) {
    this.chain = chain;
    this.db = db;
    this.engine = engine;
    this.#clock = clock;
  }

  /** Lets a slot begin. */
  async tick(slot: Slot): Promise<void> {
    await this.#clock.advanceTo(slot);
  }

  async import(signed: SignedBeaconBlock): Promise<void> {
    await this.chain.importBlock(signed);
  }

  async close(): Promise<void> {
    await this.#clock.stop();
    await this.chain.close();
    await this.db.close();
  }
}
