import type { Slot } from "@lodestar/types";
import { DataPruner, type DataPrunerParts } from "./data-pruner.ts";
import { EngineBlobs, type EngineBlobsParts } from "./engine-blobs.ts";
import { LateSidecars, type LateSidecarsParts } from "./late-sidecars.ts";
import { Reconstruction, type ReconstructionParts } from "./reconstruction.ts";

type DataMaintenanceParts = DataPrunerParts & EngineBlobsParts & LateSidecarsParts & ReconstructionParts;

/** Background maintenance of block data: fetches or reconstructs missing data, stores late data, prunes old data. */
export class DataMaintenance {
  readonly #pruner: DataPruner;
  readonly #engineBlobs: EngineBlobs;
  readonly #lateSidecars: LateSidecars;
  readonly #reconstruction: Reconstruction;

  constructor(parts: DataMaintenanceParts) {
    this.#pruner = new DataPruner(parts);
    this.#engineBlobs = new EngineBlobs(parts);
    this.#lateSidecars = new LateSidecars(parts);
    this.#reconstruction = new Reconstruction(parts);
  }

  start(): void {
    this.#pruner.begin();
  }

  onSlot(slot: Slot): void {
    this.#pruner.onSlot(slot);
  }

  /** Stops producing data; pending data is still stored. */
  stopProducing(): void {
    this.#reconstruction.close();
    this.#engineBlobs.close();
  }

  async close(): Promise<void> {
    await this.#lateSidecars.close();
    await this.#pruner.close();
  }
}
