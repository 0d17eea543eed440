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
 * Where new data of blocks enters, by gossip, by whoever publishes a block, or made by this node itself: put into the pool once it is
 * verified, and announced. What is asked of peers comes by `DataAvailability.take` instead, since it is new to nobody.
 */
export class SidecarProcessor {
  readonly #parts: SidecarProcessorParts;

  constructor(parts: SidecarProcessorParts) {
    this.#parts = parts;
  }

  /**
   * One of gossip.
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

  /** Those that are published with one block and known to be right. */
  published(sidecars: readonly DataSidecar[]): void {
    this.hold(sidecars);
    this.note(sidecars);
  }

  /** Holds sidecars of one block that are known to be right, so that the block can be imported. */
  hold(sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (first === undefined) return;
    this.#parts.data.pool.add({ slot: slotOfSidecar(first), root: blockRootOfSidecar(first) }, sidecars);
  }

  /** Notes sidecars of one block that are about to be published, and announces them. */
  note(sidecars: readonly DataSidecar[]): void {
    const [first] = sidecars;
    if (first === undefined) return;
    const root = blockRootOfSidecar(first);
    this.#noteSeen(root, sidecars);
    this.#announce(root, sidecars);
  }

  /** Those of one block that this node has made itself, out of what was verified. The network is told of them. */
  made(sidecars: readonly DataSidecar[]): void {
    this.published(sidecars);
    if (sidecars.length > 0) this.#parts.events.publish("sidecarsMade", { sidecars });
  }

  /** So that gossip takes neither them nor others in their place. */
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
