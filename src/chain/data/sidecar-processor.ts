import type { RootHex } from "@lodestar/types";
import { blockRootOfSidecar, type DataSidecar, hasHeader, isColumn, slotOfSidecar } from "../../data/sidecar.ts";
import type { ChainEvents } from "../events.ts";
import { validateBlobSidecar } from "../validation/blob-sidecar.ts";
import { validateColumnSidecar } from "../validation/column-sidecar.ts";
import type { ValidationContext } from "../validation/context.ts";
import { validateGloasColumnSidecar } from "../validation/gloas-column-sidecar.ts";
import type { DataAvailability } from "./data-availability.ts";

interface SidecarProcessorParts {
  context: ValidationContext;
  data: Pick<DataAvailability, "pool">;
  events: ChainEvents;
}

/**
 * Adds new sidecars from gossip, the API or this node to the pool, marks them as seen and publishes events. Sidecars
 * requested from peers go through `DataAvailability.take` instead, without events.
 */
export class SidecarProcessor {
  readonly #parts: SidecarProcessorParts;

  constructor(parts: SidecarProcessorParts) {
    this.#parts = parts;
  }

  /**
   * Validates and adds a sidecar from gossip.
   *
   * @throws GossipValidationError
   */
  async process(sidecar: DataSidecar, subnet: number): Promise<void> {
    const { data } = this.#parts;
    const root = await this.#validate(sidecar, subnet);
    data.pool.add({ slot: slotOfSidecar(sidecar), root }, [sidecar]);
    this.#publishEvents(root, [sidecar]);
  }

  #validate(sidecar: DataSidecar, subnet: number): Promise<RootHex> {
    const { context } = this.#parts;
    if (!hasHeader(sidecar)) return validateGloasColumnSidecar(context, sidecar, subnet);
    return isColumn(sidecar)
      ? validateColumnSidecar(context, sidecar, subnet)
      : validateBlobSidecar(context, sidecar, subnet);
  }

  /** Adds the valid sidecars of a block produced by this node, and announces them. */
  add(sidecars: readonly DataSidecar[]): void {
    this.addToPool(sidecars);
    this.announce(sidecars);
  }

  /** Adds valid sidecars to the pool so that their block can be imported. Does not announce them. */
  addToPool(sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (first === undefined) return;
    this.#parts.data.pool.add({ slot: slotOfSidecar(first), root: blockRootOfSidecar(first) }, sidecars);
  }

  /** Marks sidecars as seen and publishes their events. Called right before the broadcast. */
  announce(sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (first === undefined) return;
    const root = blockRootOfSidecar(first);
    this.#markSeen(root, sidecars);
    this.#publishEvents(root, sidecars);
  }

  /** Adds and broadcasts sidecars that were reconstructed or created from the engine's blobs. */
  publishCreated(sidecars: readonly DataSidecar[]): void {
    this.add(sidecars);
    if (sidecars.length > 0) this.#parts.events.publish("sidecarsCreated", { sidecars });
  }

  /** Marks sidecars as seen, so that gossip ignores duplicates and conflicts. */
  #markSeen(root: RootHex, sidecars: readonly DataSidecar[]): void {
    const { seen } = this.#parts.context;
    for (const sidecar of sidecars) {
      if (!hasHeader(sidecar)) {
        seen.payloads.columns.add(sidecar.slot, root, sidecar.index);
        continue;
      }
      const { slot, proposerIndex } = sidecar.signedBlockHeader.message;
      seen.sidecars.add(slot, proposerIndex, sidecar.index, root);
    }
  }

  #publishEvents(root: RootHex, sidecars: readonly DataSidecar[]): void {
    const { events } = this.#parts;
    for (const sidecar of sidecars) {
      const slot = slotOfSidecar(sidecar);
      if (isColumn(sidecar)) events.publish("columnSidecar", { slot, root, sidecar });
      else events.publish("blobSidecar", { slot, root, sidecar });
    }
  }
}
