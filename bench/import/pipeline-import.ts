import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import { initialiseDatabase } from "../../src/chain/anchor/anchor.ts";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { VirtualClock } from "../../src/chain/clock/virtual-clock.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { BeaconNode, type ChainSource } from "../../src/node/beacon-node.ts";
import { DEFAULT_SYNC_SETTINGS } from "../../src/sync/settings.ts";
import { NODE_SETTINGS } from "../../test/support/chain/settings.ts";
import type { RecordedChain } from "./record-chain.ts";

export interface PipelineOptions {
  /** Syncs every write to disk, as network nodes do. Dev chains leave it to the operating system. */
  sync: boolean;
}

interface RecordedSource extends ChainSource {
  readonly clock: VirtualClock;
  readonly engine: DevExecutionEngine;
}

/** The node's import pipeline on a database that initially contains only genesis. */
export class PipelineImport {
  readonly #node: BeaconNode<RecordedSource>;

  static async open(directory: string, recorded: RecordedChain, { sync }: PipelineOptions): Promise<PipelineImport> {
    const { config, genesisTime, genesisState } = recorded;
    const { logger, setSpec } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
    const node = await BeaconNode.open({
      ...NODE_SETTINGS,
      sync: DEFAULT_SYNC_SETTINGS,
      dataDir: directory,
      waitForDisk: sync,
      async source(db): Promise<RecordedSource> {
        const state = config.getForkTypes(0).BeaconState.deserializeToViewDU(genesisState);
        await initialiseDatabase(db, config, { state }, { kind: "bench" });
        const clock = new VirtualClock({
          genesisTime,
          secondsPerSlot: config.SECONDS_PER_SLOT,
          startSlot: state.slot,
          speed: 1,
          onListenerError: (error, slot) => logger.error("Slot processing failed", { slot, error }),
        });
        return { config, clock, engine: new DevExecutionEngine(), stopClock: () => clock.stop() };
      },
      logger,
      setLogSpec: setSpec,
    });
    return new PipelineImport(node);
  }

  private constructor(node: BeaconNode<RecordedSource>) {
    this.#node = node;
  }

  get chain(): BeaconChain {
    return this.#node.chain;
  }

  get db(): BeaconDb {
    return this.#node.db;
  }

  get engine(): DevExecutionEngine {
    return this.#node.source.engine;
  }

  /** Advances the clock to the slot. */
  async tick(slot: Slot): Promise<void> {
    await this.#node.source.clock.advanceTo(slot);
  }

  async import(signed: SignedBeaconBlock): Promise<void> {
    await this.chain.importBlock(signed);
  }

  async close(): Promise<void> {
    await this.#node.close();
  }
}
