import { GENESIS_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { slotOf } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { History } from "../../chain/history/history.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import { canonicalBlocks } from "./canonical-blocks.ts";
import { ResourceUnavailable } from "./errors.ts";
import type { BlockRange } from "./interface.ts";
import type { ResponseChunk } from "./response-chunk.ts";

interface PayloadReaderParts {
  chain: Pick<BeaconChain, "config" | "forkChoice" | "head">;
  db: BeaconDb;
  history: Pick<History, "earliestBlockSlot">;
}

/** Reads stored execution payload envelopes for responses to peers. */
export class PayloadReader {
  readonly #parts: PayloadReaderParts;

  constructor(parts: PayloadReaderParts) {
    this.#parts = parts;
  }

  /**
   * Serves ExecutionPayloadEnvelopesByRange (gloas/p2p-interface.md): the payloads of the canonical blocks, whether or
   * not the next block is built on them.
   */
  async *byRange({ startSlot, count }: BlockRange): AsyncGenerator<ResponseChunk> {
    const { chain, db, history } = this.#parts;
    const firstSlot = chain.config.GLOAS_FORK_EPOCH * SLOTS_PER_EPOCH;
    const fromSlot = Math.max(startSlot, GENESIS_SLOT + 1, firstSlot);
    const toSlot = Math.min(startSlot + count - 1, chain.head.slot);
    if (fromSlot > toSlot) return;
    const { earliestBlockSlot } = history;
    if (fromSlot < earliestBlockSlot) {
      throw new ResourceUnavailable(`No payloads available before slot ${earliestBlockSlot}.`);
    }
    for (const block of await canonicalBlocks(chain, db, fromSlot, toSlot)) {
      const chunk = await this.#chunk(block);
      if (chunk) yield chunk;
    }
  }

  /** Serves ExecutionPayloadEnvelopesByRoot (gloas/p2p-interface.md). */
  async *byRoot(roots: readonly Uint8Array[]): AsyncGenerator<ResponseChunk> {
    for (const root of new Set(roots.map(toRootHex))) {
      const slot = await this.#slotOf(root);
      const chunk = slot === undefined ? null : await this.#chunk({ slot, root });
      if (chunk) yield chunk;
    }
  }

  async #chunk({ slot, root }: SlotAndRoot): Promise<ResponseChunk | null> {
    const { chain, db } = this.#parts;
    const bytes = await db.payloads.get(root);
    if (!bytes) return null;
    const { config } = chain;
    return {
      bytes,
      forkDigest: config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot))),
    };
  }

  async #slotOf(root: string): Promise<Slot | undefined> {
    const { chain, db } = this.#parts;
    const block = chain.forkChoice.get(root);
    if (block) return block.slot;
    const bytes = await db.blocks.get(root);
    return bytes ? slotOf(bytes) : undefined;
  }
}
