import type { RootHex } from "@lodestar/types";
import { blockRootOfSidecar, type DataSidecar, isColumn, slotOfSidecar } from "../../data/sidecar.ts";
import type { ChainEvents } from "../events.ts";
import { validateBlobSidecar } from "../validation/blob-sidecar.ts";
import { validateColumnSidecar } from "../validation/column-sidecar.ts";
import type { ValidationContext } from "../validation/context.ts";
import type { DataAvailability } from "./data-availability.ts";

interface SidecarProcessorParts {
  context: ValidationContext;
  data: Pick<DataAvailability, "pool">;
  events: ChainEvents;
}

/**
 * Entry point of new block data from gossip, publication or this node: adds verified sidecars to the pool and publishes
 * events. Data requested from peers goes through `DataAvailability.take`, because it is not new.
 */
export class SidecarProcessor {
  readonly #parts: SidecarProcessorParts;

  constructor(parts: SidecarProcessorParts) {
    this.#parts = parts;
  }

  /**
   * Validates and processes a sidecar from gossip.
   *
   * @throws GossipRefusal
   */
  async process(sidecar: DataSidecar, subnet: number): Promise<void> {
    const { context, data } = this.#parts;
    const root = isColumn(sidecar)
      ? await validateColumnSidecar(context, sidecar, subnet)
      : await validateBlobSidecar(context, sidecar, subnet);
    data.pool.add({ slot: slotOfSidecar(sidecar), root }, [sidecar]);
    this.#announce(root, [sidecar]);
  }

  /** Processes valid sidecars published with a block. */
  published(sidecars: readonly DataSidecar[]): void {
    this.hold(sidecars);
    this.note(sidecars);
  }

  /** Adds valid sidecars of a block to the pool, so that the block can be imported. */
  hold(sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (first === undefined) return;
    this.#parts.data.pool.add({ slot: slotOfSidecar(first), root: blockRootOfSidecar(first) }, sidecars);
  }

  /** Marks sidecars that are about to be published as seen, and publishes events. */
  note(sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (first === undefined) return;
    const root = blockRootOfSidecar(first);
    this.#noteSeen(root, sidecars);
    this.#announce(root, sidecars);
  }

  /** Processes sidecars created by this node, and has them published to the network. */
  made(sidecars: readonly DataSidecar[]): void {
    this.published(sidecars);
    if (sidecars.length > 0) this.#parts.events.publish("sidecarsMade", { sidecars });
  }

  /** Marks sidecars as seen, so that gossip ignores duplicates and conflicts. */
  #noteSeen(root: RootHex, sidecars: readonly DataSidecar[]): void {
    const { seen } = this.#parts.context;
    for (const { index, signedBlockHeader } of sidecars) {
      const { slot, proposerIndex } = signedBlockHeader.message;
      seen.sidecars.add(slot, proposerIndex, index, root);
    }
  }

  #announce(root: RootHex, sidecars: readonly DataSidecar[]): void {
    const { events } = this.#parts;
    for (const sidecar of sidecars) {
      const slot = slotOfSidecar(sidecar);
      if (isColumn(sidecar)) events.publish("columnSidecar", { slot, root, sidecar });
      else events.publish("blobSidecar", { slot, root, sidecar });
    }
  }
}
