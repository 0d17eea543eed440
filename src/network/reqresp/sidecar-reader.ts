import { ForkSeq, GENESIS_SLOT } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import { deserializeSignedBlock, slotOf } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { History } from "../../chain/history/history.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import { type DataSidecar, slotOfSidecar } from "../../data/sidecar.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import { canonicalBlocks } from "./canonical-blocks.ts";
import { ResourceUnavailable } from "./errors.ts";
import type { BlockRange, SidecarIdentifiers } from "./interface.ts";
import type { ResponseChunk } from "./response-chunk.ts";
import type { SidecarKind } from "./sidecar-responses.ts";

/** Number of sidecars that are read from the database at a time. */
const READ_BATCH_SIZE = 16;

interface SidecarReaderParts {
  chain: Pick<BeaconChain, "config" | "forkChoice" | "head" | "data">;
  db: BeaconDb;
  history: Pick<History, "earliestBlockSlot" | "earliestAvailableSlot">;
}

/** Reads stored sidecars for responses to peers. */
export class SidecarReader {
  readonly #parts: SidecarReaderParts;

  constructor(parts: SidecarReaderParts) {
    this.#parts = parts;
  }

  /** Serves BlobSidecarsByRange (deneb/p2p-interface.md) and DataColumnSidecarsByRange (fulu/p2p-interface.md). */
  async *byRange(
    kind: SidecarKind<DataSidecar>,
    range: BlockRange,
    indices?: readonly number[],
  ): AsyncGenerator<ResponseChunk> {
    const { chain, db } = this.#parts;
    const slots = this.#slotsOf(kind, range);
    if (!slots) return;
    this.#requireBlocks(slots.from);
    let hasSent = false;
    for (const block of await canonicalBlocks(chain, db, slots.from, slots.to)) {
      const storedIndices = await chain.data.indices(block.root);
      const servedIndices = indices ? storedIndices.filter((index) => indices.includes(index)) : storedIndices;
      if (servedIndices.length === 0 && (await this.#isMissingData(block, indices))) {
        if (hasSent) return;
        throw new ResourceUnavailable(`The data of slot ${block.slot} is not available.`);
      }
      hasSent ||= servedIndices.length > 0;
      yield* this.#chunks(block, servedIndices);
    }
  }

  /** Serves BlobSidecarsByRoot (deneb/p2p-interface.md) and DataColumnSidecarsByRoot (fulu/p2p-interface.md). */
  async *byRoot(
    kind: SidecarKind<DataSidecar>,
    identifiers: readonly SidecarIdentifiers[],
  ): AsyncGenerator<ResponseChunk> {
    for (const { root, indices } of identifiers) {
      const slot = await this.#slotOf(root);
      if (slot === undefined || !this.#isOf(kind, slot)) continue;
      // There is only one lookup per block, since a request may name thousands of sidecars.
      const storedIndices = new Set(await this.#parts.chain.data.indices(root));
      yield* this.#chunks(
        { slot, root },
        [...new Set(indices)].filter((index) => storedIndices.has(index)),
      );
    }
  }

  /**
   * Limits the range to slots that can have such sidecars, lie within the data availability window, and are not after
   * the head.
   */
  #slotsOf(kind: SidecarKind<DataSidecar>, { startSlot, count }: BlockRange): { from: Slot; to: Slot } | undefined {
    const { chain } = this.#parts;
    let from = Math.max(startSlot, GENESIS_SLOT + 1);
    let to = Math.min(startSlot + count - 1, chain.head.slot);
    while (from <= to && !this.#isOf(kind, from)) from++;
    while (from <= to && !this.#isOf(kind, to)) to--;
    if (from > to) return undefined;
    if (!chain.data.isWithinWindow(to)) {
      throw new ResourceUnavailable(`Slot ${to} is before the data availability window.`);
    }
    while (!chain.data.isWithinWindow(from)) from++;
    return { from, to };
  }

  /** Throws for slots before our history, since an empty response would claim that their blocks have no data. */
  #requireBlocks(slot: Slot): void {
    const { earliestBlockSlot } = this.#parts.history;
    if (slot < earliestBlockSlot)
      throw new ResourceUnavailable(`No blocks available before slot ${earliestBlockSlot}.`);
  }

  /** Returns true if a block lacks requested data that this node should custody. */
  async #isMissingData({ slot, root }: SlotAndRoot, indices: readonly number[] | undefined): Promise<boolean> {
    const { chain, db, history } = this.#parts;
    if (slot > history.earliestAvailableSlot) return false;
    if (indices && !chain.data.custody.columns.some((column) => indices.includes(column))) return false;
    const bytes = await db.blocks.get(root);
    return bytes === null || commitmentsOf(deserializeSignedBlock(chain.config, bytes)).length > 0;
  }

  async *#chunks({ slot, root }: SlotAndRoot, indices: readonly number[]): AsyncGenerator<ResponseChunk> {
    const { config, data } = this.#parts.chain;
    const forkDigest = config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot)));
    for (let from = 0; from < indices.length; from += READ_BATCH_SIZE) {
      const next = indices.slice(from, from + READ_BATCH_SIZE);
      for (const bytes of await Promise.all(next.map((index) => data.sidecarBytes(root, index)))) {
        if (bytes) yield { bytes, forkDigest };
      }
    }
  }

  /** Returns the slot of a known block, or of a block whose sidecars have arrived before the block itself. */
  async #slotOf(root: RootHex): Promise<Slot | undefined> {
    const { chain, db } = this.#parts;
    const block = chain.forkChoice.get(root);
    if (block) return block.slot;
    const [sidecar] = chain.data.pool.all(root);
    if (sidecar) return slotOfSidecar(sidecar);
    const bytes = await db.blocks.get(root);
    return bytes ? slotOf(bytes) : undefined;
  }

  #isOf(kind: SidecarKind<DataSidecar>, slot: Slot): boolean {
    return kind.isInFork(ForkSeq[this.#parts.chain.config.getForkName(slot)]);
  }
}
