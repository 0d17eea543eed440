import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT } from "@lodestar/params";
import { type gloas, type RootHex, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { GenesisLoader } from "../anchor/genesis-loader.ts";
import { parentRootOf, serializeSignedBlock } from "../blocks/block-encoding.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import { findInvalidSignature } from "../blocks/proposer-signatures.ts";
import type { Clock } from "../clock/clock.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import { attributeTo, BlockRejection } from "../import/block-rejection.ts";
import { type ArrivedBlock, linkSegment } from "../import/segment.ts";
import type { Revision } from "../revision.ts";
import { DataHistory } from "./data-history.ts";
import { genuinePayloads } from "./payload-history.ts";

/** Next block to backfill: its root, and an exclusive upper bound for its slot. */
export interface HistoryEnd {
  root: RootHex;
  before: Slot;
}

interface HistoryParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  blocks: BlockStore;
  data: DataAvailability;
  bls: BlsVerifier;
  /** Returns the key of a builder in the head's registry. */
  builderPubkey(index: number): Uint8Array | undefined;
  revision: Revision;
  /** Set if the chain was started from a state after genesis. */
  genesis: GenesisLoader | undefined;
}

/** Returns the point where the stored blocks end; null if they reach back to genesis. */
export async function readHistoryEnd(db: BeaconDb): Promise<HistoryEnd | null> {
  const oldest = await db.finalizedBlocks.firstAfter(GENESIS_SLOT - 1);
  if (!oldest || oldest.slot === GENESIS_SLOT) return null;
  const bytes = await db.blocks.get(oldest.root);
  // If the chain was started from a state without its block, the oldest block in the index is itself missing.
  return bytes ? { root: parentRootOf(bytes), before: oldest.slot } : { root: oldest.root, before: oldest.slot + 1 };
}

/**
 * Backfills blocks before the anchor, newest first. Each block is authenticated by its child's parent root, so blocks
 * are not executed and have no states.
 */
export class History {
  readonly #parts: HistoryParts;
  #end: HistoryEnd | null;
  readonly data: DataHistory;

  constructor(parts: HistoryParts, end: HistoryEnd | null) {
    this.#parts = parts;
    this.#end = end;
    this.data = new DataHistory({ ...parts, earliestBlockSlot: () => this.earliestBlockSlot });
  }

  /** Null once complete. */
  get end(): HistoryEnd | null {
    return this.#end;
  }

  /** First slot from which all blocks are stored. */
  get earliestBlockSlot(): Slot {
    return this.#end?.before ?? GENESIS_SLOT;
  }

  /** First slot from which all blocks, and all data to be served, are stored. */
  get earliestAvailableSlot(): Slot {
    return Math.max(this.earliestBlockSlot, this.data.earliestSlot);
  }

  /**
   * Adds consecutive blocks in ascending order, in one write. The last block must be the parent of the oldest stored
   * block. Verifies proposer signatures, which block roots do not cover (phase0/p2p-interface.md, BeaconBlocksByRange).
   * Stores the genuine ones of the given payloads, too.
   *
   * @throws a `BlockRejection` if the blocks do not connect or a signature is invalid
   */
  async prepend(
    blocks: readonly SignedBeaconBlock[],
    envelopes: readonly gloas.SignedExecutionPayloadEnvelope[] = [],
  ): Promise<void> {
    const { config, db, revision } = this.#parts;
    const segment = await linkSegment(config, blocks, 0);
    const [first, last] = [segment[0], segment.at(-1)];
    if (!first || !last) return;
    this.#requireEnd(last);
    await this.#requireSignatures(segment);
    const payloads = await genuinePayloads(this.#parts, segment, envelopes);
    const batch = db.batch();
    for (const [root, envelope] of payloads) {
      batch.payloads.put(root, ssz.gloas.SignedExecutionPayloadEnvelope.serialize(envelope));
    }
    for (const { signed, root } of segment) {
      batch.blocks.put(root, serializeSignedBlock(config, signed));
      batch.finalizedBlocks.put(signed.message.slot, root);
    }
    await batch.write();
    this.#end = { root: toRootHex(first.signed.message.parentRoot), before: first.signed.message.slot };
    revision.raise();
  }

  /**
   * Returns true if only the genesis block is missing, which peers do not serve because it is unsigned. Adds the
   * genesis block if known.
   *
   * @throws if the chain starts with a different genesis block
   */
  async reachesGenesis(): Promise<boolean> {
    const { config, db, genesis, revision } = this.#parts;
    if (this.#end === null) return true;
    const { root, before } = this.#end;
    const isAfterGenesis = before === GENESIS_SLOT + 1;
    const info = await genesis?.info();
    if (info?.root !== root) {
      if (!info || !isAfterGenesis) return isAfterGenesis;
      throw new Error(`Genesis mismatch: the first block's parent is ${root}, the genesis block is ${info.root}.`);
    }
    const batch = db.batch();
    batch.blocks.put(info.root, serializeSignedBlock(config, info.block));
    batch.finalizedBlocks.put(GENESIS_SLOT, info.root);
    await batch.write();
    this.#end = null;
    revision.raise();
    return true;
  }

  #requireEnd({ signed, root }: ArrivedBlock): void {
    const { slot } = signed.message;
    if (this.#end !== null && root === this.#end.root && slot < this.#end.before && slot > GENESIS_SLOT) return;
    const expectation = this.#end === null ? "none is wanted" : `expected ${this.#end.root}`;
    const message = `Block ${root} at slot ${slot} does not connect to the oldest stored block: ${expectation}.`;
    throw attributeTo(new BlockRejection("not-connected", message), { slot, root });
  }

  async #requireSignatures(blocks: readonly ArrivedBlock[]): Promise<void> {
    const invalidBlock = await findInvalidSignature(blocks, this.#parts);
    if (!invalidBlock) return;
    const { slot, proposerIndex } = invalidBlock.signed.message;
    const message = `Invalid proposer signature at slot ${slot}: expected validator ${proposerIndex}.`;
    throw attributeTo(new BlockRejection("invalid-signature", message), { slot, root: invalidBlock.root });
  }
}
