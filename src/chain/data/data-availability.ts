import type { BeaconConfig } from "@lodestar/config";
import { CELLS_PER_EXT_BLOB, ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { blobSidecarsOf } from "../../data/blob-sidecars.ts";
import { columnFrameOf, columnSidecarsOf } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { Kzg } from "../../data/kzg.ts";
import { type DataSidecar, serializeSidecar } from "../../data/sidecar.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import type { Clock } from "../clock/clock.ts";
import { BlockRejection } from "../import/block-rejection.ts";
import { blobsOfColumns, DataUnavailableError } from "./blobs-of-block.ts";
import type { Custody } from "./custody.ts";
import { DataPool } from "./data-pool.ts";
import { verifySidecars } from "./verify-sidecars.ts";

interface DataAvailabilityParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  db: BeaconDb;
  kzg: Kzg;
  custody: Custody;
}

/** A block that data belongs to. */
export interface CommittingBlock {
  signed: SignedBeaconBlock;
  root: RootHex;
}

/** The blobs of a block with their proofs: one a blob in deneb and electra, one a cell from fulu on. */
export interface BlobsAndProofs {
  blobs: readonly Uint8Array[];
  proofs: readonly Uint8Array[];
}

type AwaitedListener = (block: CommittingBlock, missing: readonly number[]) => void;

/** Whether what blocks commit to is there (fork-choice.md of deneb and fulu, is_data_available). */
export class DataAvailability {
  readonly custody: Custody;
  readonly kzg: Kzg;
  readonly pool = new DataPool();
  readonly #config: BeaconConfig;
  readonly #clock: DataAvailabilityParts["clock"];
  readonly #db: BeaconDb;
  readonly #awaited = new Map<RootHex, CommittingBlock>();
  readonly #listeners = new Set<AwaitedListener>();

  constructor({ config, clock, db, kzg, custody }: DataAvailabilityParts) {
    this.#config = config;
    this.#clock = clock;
    this.#db = db;
    this.kzg = kzg;
    this.custody = custody;
  }

  /** Whether blocks of the slot have columns instead of blob sidecars. */
  hasColumns(slot: Slot): boolean {
    return this.#config.getForkSeq(slot) >= ForkSeq.fulu;
  }

  /** Whether peers still have to serve the data of the slot (p2p-interface.md of deneb and fulu, the windows of requests). */
  isWithinWindow(slot: Slot): boolean {
    const { MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS, MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS } = this.#config;
    const epochs = this.hasColumns(slot)
      ? MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS
      : MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS;
    return computeEpochAtSlot(slot) + epochs >= this.#clock.currentEpoch;
  }

  /** The indices of the sidecars without which a block is not imported. */
  required(signed: SignedBeaconBlock): readonly number[] {
    const { slot } = signed.message;
    const { length } = commitmentsOf(signed);
    if (length === 0 || !this.isWithinWindow(slot)) return [];
    return this.hasColumns(slot) ? this.custody.sampled : Array.from({ length }, (_, index) => index);
  }

  /** Those of them that are not here. */
  missing({ signed, root }: CommittingBlock): number[] {
    return this.required(signed).filter((index) => !this.pool.has(root, index));
  }

  /** The blocks that wait for their data. */
  awaited(): CommittingBlock[] {
    return [...this.#awaited.values()];
  }

  /** Calls the listener with each block that begins to wait for data. Returns the function that ends it. */
  onAwaited(listener: AwaitedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves when nothing is missing.
   *
   * @throws the signal's reason when it is aborted first
   */
  async whenAvailable(block: CommittingBlock, signal: AbortSignal): Promise<void> {
    const missing = this.missing(block);
    if (missing.length === 0) return;
    this.#awaited.set(block.root, block);
    try {
      await this.#untilComplete(block, signal, () => {
        for (const listener of [...this.#listeners]) listener(block, missing);
      });
    } finally {
      this.#awaited.delete(block.root);
    }
  }

  /** For blocks whose data has to be here already, as those that syncing brings. */
  requireAvailable(block: CommittingBlock): void {
    const { length } = this.missing(block);
    if (length === 0) return;
    const { slot } = block.signed.message;
    const what = this.hasColumns(slot) ? "columns" : "blobs";
    throw new BlockRejection("data-unavailable", `Of the block of slot ${slot}, ${length} ${what} have not come.`);
  }

  /** The sidecars of a block, all of them, from its blobs. */
  async sidecarsOf(signed: SignedBeaconBlock, { blobs, proofs }: BlobsAndProofs): Promise<DataSidecar[]> {
    if (blobs.length === 0) return [];
    if (!this.hasColumns(signed.message.slot)) return blobSidecarsOf(this.#config, signed, { blobs, proofs });
    const cells = await Promise.all(blobs.map((blob) => this.kzg.cellsOf(blob)));
    const extended = cells.map((cells, index) => ({
      cells,
      proofs: proofs.slice(index * CELLS_PER_EXT_BLOB, (index + 1) * CELLS_PER_EXT_BLOB),
    }));
    return columnSidecarsOf(columnFrameOf(this.#config, signed), extended);
  }

  /** Takes what was fetched or published of a block once it is verified. */
  async take(block: CommittingBlock, sidecars: readonly DataSidecar[]): Promise<void> {
    await verifySidecars(this.#config, this.kzg, block, sidecars);
    this.pool.add({ slot: block.signed.message.slot, root: block.root }, sidecars);
  }

  /** Null when it is not here. */
  async sidecarBytes(root: RootHex, index: number): Promise<Uint8Array | null> {
    const pooled = this.pool.get(root, index);
    return pooled ? serializeSidecar(pooled) : this.#db.data.get(root, index);
  }

  /** The blobs that a block commits to, in the order of its commitments. */
  async blobs({ signed, root }: CommittingBlock): Promise<Uint8Array[]> {
    const { length } = commitmentsOf(signed);
    if (length === 0) return [];
    if (this.hasColumns(signed.message.slot)) {
      return blobsOfColumns(this.kzg, length, (column) => this.sidecarBytes(root, column));
    }
    const sidecars = await Promise.all(Array.from({ length }, (_, index) => this.sidecarBytes(root, index)));
    return sidecars.map((bytes) => {
      if (bytes === null) throw new DataUnavailableError("Some of the blobs are not here.");
      return ssz.deneb.BlobSidecar.deserialize(bytes).blob;
    });
  }

  /** Has what is here of a block be stored together with the block, and forgets it once that is done. */
  store(batch: BeaconDbBatch, { signed, root }: CommittingBlock): void {
    const { slot } = signed.message;
    for (const sidecar of this.pool.all(root)) batch.data.put({ slot, root }, sidecar.index, serializeSidecar(sidecar));
  }

  #untilComplete(block: CommittingBlock, signal: AbortSignal, begun: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        stopListening();
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const stopListening = this.pool.onAdded((root) => {
        if (root !== block.root || this.missing(block).length > 0) return;
        end();
        resolve();
      });
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else begun();
    });
  }
}
