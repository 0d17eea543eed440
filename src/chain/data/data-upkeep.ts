import type { Slot } from "@lodestar/types";
import { DataPruner, type DataPrunerParts } from "./data-pruner.ts";
import { EngineBlobs, type EngineBlobsParts } from "./engine-blobs.ts";
import { LateSidecars, type LateSidecarsParts } from "./late-sidecars.ts";
import { Reconstruction, type ReconstructionParts } from "./reconstruction.ts";

type DataUpkeepParts = DataPrunerParts & EngineBlobsParts & LateSidecarsParts & ReconstructionParts;

/** What happens to the data of blocks by itself: what is missing is made, what comes late is stored, what is old is deleted. */
export class DataUpkeep {
  readonly #pruner: DataPruner;
  readonly #engineBlobs: EngineBlobs;
  readonly #lateSidecars: LateSidecars;
  readonly #reconstruction: Reconstruction;

  constructor(parts: DataUpkeepParts) {
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

  /** Makes no more data, while what was taken in is still stored. */
  stopMaking(): void {
    this.#reconstruction.close();
    this.#engineBlobs.close();
  }

  async close(): Promise<void> {
    await this.#lateSidecars.close();
    await this.#pruner.close();
  }
}
