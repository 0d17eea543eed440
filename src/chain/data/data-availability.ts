import type { BeaconConfig } from "@lodestar/config";
import { CELLS_PER_EXT_BLOB, ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import { blobSidecarsOf } from "../../data/blob-sidecars.ts";
import { columnFrameOf, columnSidecarsOf } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { Kzg } from "../../data/kzg/kzg.ts";
import { type DataSidecar, serializeSidecar } from "../../data/sidecar.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { Clock } from "../clock/clock.ts";
import { attributeTo, BlockRejection } from "../import/block-rejection.ts";
import { hasEnvelope } from "../payloads/new-payload.ts";
import { blobsOfBlock } from "./blobs-of-block.ts";
import type { BlockWithCommitments } from "./block-with-commitments.ts";
import type { Custody } from "./custody.ts";
import { DataPool } from "./data-pool.ts";
import { readStoredSidecar, storedSidecar } from "./stored-sidecar.ts";
import { type SidecarsOfBlock, verifySidecars } from "./verify-sidecars.ts";

interface DataAvailabilityParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Pick<Clock, "currentEpoch">;
  kzg: Kzg;
  custody: Custody;
}

export type { BlockWithCommitments };

/** A block's blobs with their proofs: one proof per blob in Deneb and Electra, one per cell since Fulu. */
export interface BlobsAndProofs {
  blobs: readonly Uint8Array[];
  proofs: readonly Uint8Array[];
  /** Cells of each blob, if known. */
  cells?: readonly Uint8Array[][];
}

/** Short, because the final database write takes additional time. */
const STORING_MS = 5;

type AwaitedListener = (block: BlockWithCommitments, missing: readonly number[]) => void;

/** Tracks the data availability of blocks (fork-choice.md of deneb and fulu, is_data_available). */
export class DataAvailability {
  readonly custody: Custody;
  readonly kzg: Kzg;
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #clock: DataAvailabilityParts["clock"];
  readonly #awaited = new Map<RootHex, BlockWithCommitments>();
  readonly pool = new DataPool({ isAwaited: (root) => this.#awaited.has(root) });
  readonly #listeners = new Set<AwaitedListener>();
  readonly #storing = new TimeSlice(STORING_MS);

  constructor({ config, db, clock, kzg, custody }: DataAvailabilityParts) {
    this.#config = config;
    this.#db = db;
    this.#clock = clock;
    this.kzg = kzg;
    this.custody = custody;
  }

  /** True if blocks at this slot have data columns instead of blob sidecars. */
  hasColumns(slot: Slot): boolean {
    return this.#config.getForkSeq(slot) >= ForkSeq.fulu;
  }

  /** True if the slot is within the data retention window (p2p-interface.md of deneb and fulu). */
  isWithinWindow(slot: Slot): boolean {
    const { MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS, MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS } = this.#config;
    const epochs = this.hasColumns(slot)
      ? MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS
      : MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS;
    return computeEpochAtSlot(slot) + epochs >= this.#clock.currentEpoch;
  }

  /** Returns the indices of the sidecars required for import. */
  required(signed: SignedBeaconBlock): readonly number[] {
    const { slot } = signed.message;
    const { length } = commitmentsOf(signed);
    if (length === 0 || !this.isWithinWindow(slot)) return [];
    return this.hasColumns(slot) ? this.custody.sampled : Array.from({ length }, (_, index) => index);
  }

  /** Returns the required sidecars that are missing. */
  missing({ signed, root }: BlockWithCommitments): number[] {
    return this.required(signed).filter((index) => !this.pool.has(root, index));
  }

  /** Returns the required sidecars that are missing for the import of a block; since gloas, only its payload needs them. */
  missingForBlock(block: BlockWithCommitments): number[] {
    return hasEnvelope(this.#config, block.signed.message.slot) ? [] : this.missing(block);
  }

  /** Returns the blocks waiting for data. */
  awaited(): BlockWithCommitments[] {
    return [...this.#awaited.values()];
  }

  /** Calls the listener when a block starts waiting for data. Returns an unsubscribe function. */
  onAwaited(listener: AwaitedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves when all required data is available.
   *
   * @throws the signal's reason on abort
   */
  async whenAvailable(block: BlockWithCommitments, signal: AbortSignal): Promise<void> {
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

  /** Throws if required data is missing. Blocks from sync do not wait for data. */
  requireAvailable(block: BlockWithCommitments): void {
    if (this.missing(block).length > 0) throw this.unavailable(block);
  }

  /** Throws if data is missing that the block itself requires. */
  requireAvailableForBlock(block: BlockWithCommitments): void {
    if (this.missingForBlock(block).length > 0) throw this.unavailable(block);
  }

  /** Creates the rejection for a block with missing data. */
  unavailable(block: BlockWithCommitments): BlockRejection {
    const { slot } = block.signed.message;
    const [missing, needed] = [this.missing(block).length, this.required(block.signed).length];
    const what = this.hasColumns(slot) ? "columns" : "blobs";
    const message = `${missing} of ${needed} ${what} of the block at slot ${slot} are missing.`;
    return attributeTo(new BlockRejection("data-unavailable", message), { slot, root: block.root });
  }

  /** Creates all sidecars of a block from its blobs. */
  async sidecarsOf(signed: SignedBeaconBlock, { blobs, proofs, cells }: BlobsAndProofs): Promise<DataSidecar[]> {
    if (blobs.length === 0) return [];
    if (!this.hasColumns(signed.message.slot)) return blobSidecarsOf(this.#config, signed, { blobs, proofs });
    const cellsOfBlobs = cells ?? (await Promise.all(blobs.map((blob) => this.kzg.cellsOf(blob))));
    const extended = cellsOfBlobs.map((cells, index) => ({
      cells,
      proofs: proofs.slice(index * CELLS_PER_EXT_BLOB, (index + 1) * CELLS_PER_EXT_BLOB),
    }));
    return columnSidecarsOf(columnFrameOf(this.#config, signed), extended);
  }

  /** @throws WrongSidecarError for the first invalid sidecar */
  verify(entries: readonly SidecarsOfBlock[]): Promise<void> {
    return verifySidecars(this.#config, this.kzg, entries);
  }

  /**
   * Verifies fetched sidecars as a batch and adds them to the pool.
   *
   * @throws WrongSidecarError for the first invalid sidecar, in which case none is added
   */
  async take(entries: readonly SidecarsOfBlock[]): Promise<void> {
    await this.verify(entries);
    for (const { block, sidecars } of entries) {
      this.pool.add({ slot: block.signed.message.slot, root: block.root }, sidecars);
    }
  }

  /** Returns a block's available sidecars, pooled or stored, in ascending order. Optionally limited to `indices`. */
  async sidecars({ root }: SlotAndRoot, indices?: readonly number[]): Promise<DataSidecar[]> {
    const sortedIndices = [...new Set(indices ?? (await this.indices(root)))].sort((a, b) => a - b);
    const sidecars = await Promise.all(
      sortedIndices.map((index) => this.pool.get(root, index) ?? storedSidecar(this.#db, { root, index })),
    );
    return sidecars.filter((sidecar) => sidecar !== null);
  }

  /** Returns the SSZ encoding of a sidecar. */
  async sidecarBytes(root: RootHex, index: number): Promise<Uint8Array | null> {
    const sidecar = this.pool.get(root, index);
    if (sidecar) return serializeSidecar(sidecar);
    const bytes = await this.#db.data.get(root, index);
    if (bytes) readStoredSidecar(this.#db, { root, index }, bytes);
    return bytes;
  }

  /** Returns the indices of available sidecars in ascending order. */
  async indices(root: RootHex): Promise<number[]> {
    const pooledIndices = this.pool.all(root).map(({ index }) => index);
    return [...new Set([...(await this.#db.data.indices(root)), ...pooledIndices])].sort((a, b) => a - b);
  }

  /**
   * Returns the blobs of a block in commitment order. Since Fulu, blobs are assembled from the columns, or recovered
   * from half of them.
   *
   * @throws DataUnavailableError
   */
  blobs(block: BlockWithCommitments): Promise<Uint8Array[]> {
    return blobsOfBlock(block, {
      kzg: this.kzg,
      keptColumns: this.custody.columns.length,
      hasColumns: (slot) => this.hasColumns(slot),
      sidecars: (position, indices) => this.sidecars(position, indices),
    });
  }

  /**
   * Stores sidecars of a block in time slices, because a block's columns add up to megabytes. Includes columns outside
   * custody: they come from local production, publication or reconstruction, so this may be the only node that has
   * them.
   */
  async store(batch: BeaconDbBatch, { slot, root }: SlotAndRoot, sidecars: readonly DataSidecar[]): Promise<void> {
    for (const sidecar of sidecars) {
      batch.data.put({ slot, root }, sidecar.index, serializeSidecar(sidecar));
      await this.#storing.yieldIfDue();
    }
  }

  #untilComplete(block: BlockWithCommitments, signal: AbortSignal, onWaiting: () => void): Promise<void> {
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
      else onWaiting();
    });
  }
}
