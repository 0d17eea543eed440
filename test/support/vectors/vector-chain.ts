import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import type { SignedBeaconBlock } from "@lodestar/types";
import { initialiseDatabase } from "../../../src/chain/anchor/anchor.ts";
import { BeaconChain } from "../../../src/chain/chain.ts";
import type { ImportedBlock } from "../../../src/chain/import/block-importer.ts";
import { BlockRejection } from "../../../src/chain/import/block-rejection.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../../src/chain/settings.ts";
import { GossipValidationError } from "../../../src/chain/validation/outcome.ts";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import { createMemoryDatabase } from "../../../src/db/open-database.ts";
import { SteppedClock } from "../chain/clock/stepped-clock.ts";
import { sharedKzg } from "../data/kzg/shared-kzg.ts";
import { ScriptedEngine } from "../execution/scripted-engine.ts";
import { createRecordingLogger } from "../log/recording-logger.ts";

interface VectorAnchor {
  config: BeaconConfig;
  /** State to start from, at or after the slot of its latest block. */
  state: BeaconStateAllForks;
  /** Latest block of the state, if the vector has it. */
  block?: SignedBeaconBlock;
}

/**
 * Real chain in memory that starts at the anchor of a vector. It verifies all signatures, its engine finds every
 * payload valid, and a test drives its clock.
 */
export class VectorChain {
  readonly chain: BeaconChain;
  readonly clock: SteppedClock;
  readonly engine: ScriptedEngine;
  readonly #db: BeaconDb;

  static async open({ config, state, block }: VectorAnchor): Promise<VectorChain> {
    const clock = new SteppedClock(state.genesisTime, config.SECONDS_PER_SLOT);
    clock.set(state.slot);
    const db = await createMemoryDatabase("vectors");
    await initialiseDatabase(db, config, { state, ...(block && { block }) }, {});
    const logger = createRecordingLogger();
    const engine = new ScriptedEngine();
    const chain = await BeaconChain.open({
      settings: DEFAULT_CHAIN_SETTINGS,
      config,
      db,
      clock,
      engine,
      logger,
      kzg: sharedKzg,
    });
    chain.start();
    return new VectorChain({ chain, clock, engine }, db);
  }

  private constructor({ chain, clock, engine }: Pick<VectorChain, "chain" | "clock" | "engine">, db: BeaconDb) {
    this.chain = chain;
    this.clock = clock;
    this.engine = engine;
    this.#db = db;
  }

  /** Goes to a time through all slots before it, each with its head. */
  stepTo(seconds: number): Promise<void> {
    // Changes are queued, so this also waits for those of the slot's listeners.
    return this.clock.stepTo(seconds, () => this.chain.refreshHead());
  }

  /** Imports a block in its slot, or in the current slot if that is later. */
  async importInSlot(signed: SignedBeaconBlock): Promise<ImportedBlock> {
    const start = this.clock.slotStartSeconds(signed.message.slot);
    if (start > this.clock.nowSeconds()) await this.stepTo(start);
    return this.chain.importBlock(signed, { waitsForData: false });
  }

  async close(): Promise<void> {
    await this.chain.close();
    await this.#db.close();
  }
}

/** True if the chain found its input invalid. Other errors are internal. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof BlockRejection || error instanceof GossipValidationError;
