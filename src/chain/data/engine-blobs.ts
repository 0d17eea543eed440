import type { BeaconConfig } from "@lodestar/config";
import type { ForkPostDeneb } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { LruMap } from "../../collections/lru-map.ts";
import { blobSidecarsOf } from "../../data/blob-sidecars.ts";
import { type ColumnFrame, columnFrameOf, columnSidecarsOf } from "../../data/column-sidecars.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import { type DataSidecar, hasHeader } from "../../data/sidecar.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import {
  EngineUnavailableError,
  type ExecutionEngine,
  isReachable,
  type PooledBlob,
  versionedHashesOf,
} from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { BlockWithCommitments } from "./block-with-commitments.ts";
import type { DataAvailability } from "./data-availability.ts";
import type { SidecarProcessor } from "./sidecar-processor.ts";

/** Exceeds the number of blocks that can wait for data at once. */
const REMEMBERED_BLOCKS = 256;

export interface EngineBlobsParts {
  config: BeaconConfig;
  engine: ExecutionEngine;
  forkChoice: Pick<ForkChoice, "has">;
  data: Pick<DataAvailability, "pool" | "custody" | "kzg" | "hasColumns" | "onAwaited">;
  sidecars: Pick<SidecarProcessor, "publishCreated">;
  events: ChainEvents;
  /** True for blocks produced by this node, whose blobs are already available. */
  isOwn(root: RootHex): boolean;
  logger: Logger;
}

/** Request for the missing data of a block. */
interface BlobRequest {
  slot: Slot;
  root: RootHex;
  commitments: readonly Uint8Array[];
  /** Sidecar indices. */
  indices: readonly number[];
  /** Creates the sidecars for which enough blobs were found. */
  make(blobs: readonly (PooledBlob | null)[]): DataSidecar[] | Promise<DataSidecar[]>;
}

/**
 * Fetches blobs of new blocks from the execution client's transaction pool (deneb/p2p-interface.md, Blob retrieval via
 * local execution-layer client; fulu/p2p-interface.md, Distributed blob publishing). Sends one request per block, once
 * the block or its first column has passed gossip validation. Does not verify the results, as the specification
 * advises.
 */
export class EngineBlobs {
  readonly #parts: EngineBlobsParts;
  readonly #requested = new LruMap<RootHex, true>(REMEMBERED_BLOCKS);
  readonly #stopListening: (() => void)[];
  #isClosed = false;

  constructor(parts: EngineBlobsParts) {
    const { events, data, isOwn } = parts;
    this.#parts = parts;
    this.#stopListening = [
      events.on("blockGossip", ({ signed, root }) => {
        if (!isOwn(root)) this.#onBlock({ signed, root });
      }),
      events.on("columnSidecar", ({ slot, root, sidecar }) => {
        // Since gloas, only the block has the commitments.
        if (hasHeader(sidecar)) {
          this.#requestOnce(this.#columnsOf({ slot, root }, sidecar.kzgCommitments, () => sidecar));
        }
      }),
      // Not all blocks arrive over gossip.
      data.onAwaited((block) => this.#onBlock(block)),
    ];
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stopListening) stop();
  }

  #onBlock({ signed, root }: BlockWithCommitments): void {
    const { config, data } = this.#parts;
    const { slot } = signed.message;
    const commitments = commitmentsOf(signed);
    if (data.hasColumns(slot))
      this.#requestOnce(this.#columnsOf({ slot, root }, commitments, () => columnFrameOf(config, signed)));
    else this.#requestOnce(this.#blobsOf({ slot, root }, commitments, signed));
  }

  #blobsOf(position: SlotAndRoot, commitments: readonly Uint8Array[], signed: SignedBeaconBlock): BlobRequest {
    const { config } = this.#parts;
    return {
      ...position,
      commitments,
      indices: [...commitments.keys()],
      make(poolBlobs) {
        const blobs = poolBlobs.map((poolBlob) => poolBlob?.blob ?? NOTHING);
        const proofs = poolBlobs.map((poolBlob) => poolBlob?.proofs[0] ?? NOTHING);
        return blobSidecarsOf(config, signed, { blobs, proofs }).filter(({ index }) => poolBlobs[index] !== null);
      },
    };
  }

  #columnsOf(position: SlotAndRoot, commitments: readonly Uint8Array[], frame: () => ColumnFrame): BlobRequest {
    const { kzg, custody } = this.#parts.data;
    return {
      ...position,
      commitments,
      indices: custody.sampled,
      async make(poolBlobs) {
        const availableBlobs = poolBlobs.filter((blob) => blob !== null);
        if (availableBlobs.length < poolBlobs.length) return [];
        const extended = availableBlobs.map(async ({ blob, proofs }) => ({
          cells: await kzg.cellsOf(blob),
          proofs: [...proofs],
        }));
        return columnSidecarsOf(frame(), await Promise.all(extended), custody.sampled);
      },
    };
  }

  #requestOnce(request: BlobRequest): void {
    const { engine } = this.#parts;
    const { root, commitments } = request;
    if (commitments.length === 0 || this.#requested.get(root) || this.#missing(request).length === 0) return;
    if (!engine.getBlobs || !isReachable(engine.state)) return;
    this.#requested.set(root, true);
    // Never rejects.
    void this.#fetch(request);
  }

  async #fetch(request: BlobRequest): Promise<void> {
    const { config, engine, sidecars, logger } = this.#parts;
    const { slot, root, commitments } = request;
    try {
      const fork = config.getForkName(slot) as ForkPostDeneb;
      const poolBlobs = (await engine.getBlobs?.(fork, versionedHashesOf(commitments))) ?? [];
      const createdSidecars = await request.make(poolBlobs);
      // Sidecars may have arrived during the request.
      const missing = this.#isClosed ? [] : this.#missing(request);
      const newSidecars = createdSidecars.filter(({ index }) => missing.includes(index));
      if (newSidecars.length === 0) return;
      logger.debug("Fetched blobs from execution client", { slot, root, sidecars: newSidecars.length });
      sidecars.publishCreated(newSidecars);
    } catch (error) {
      if (this.#isClosed) return;
      const level = error instanceof EngineUnavailableError ? "debug" : "warn";
      logger[level]("Failed to fetch blobs from execution client", { slot, root, error });
    }
  }

  /** Returns an empty list for imported blocks. */
  #missing({ root, indices }: BlobRequest): number[] {
    const { data, forkChoice } = this.#parts;
    return forkChoice.has(root) ? [] : indices.filter((index) => !data.pool.has(root, index));
  }
}

const NOTHING = new Uint8Array();
