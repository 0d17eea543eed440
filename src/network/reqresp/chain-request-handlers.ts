import { GENESIS_EPOCH, GENESIS_SLOT, ZERO_HASH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch, fulu } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { parentRootOf, slotOf } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Root } from "../../db/keys.ts";
import type { LocalNode } from "../local-node.ts";
import { canonicalBlocks } from "./canonical-blocks.ts";
import { ResourceUnavailable } from "./errors.ts";
import type { BlockAncestry, BlockChunk, BlockRange, RequestHandlers, SidecarIdentifiers } from "./interface.ts";
import { maxRequestBlocks } from "./limits.ts";
import { PayloadReader } from "./payload-reader.ts";
import type { ResponseChunk } from "./response-chunk.ts";
import { SidecarReader } from "./sidecar-reader.ts";
import { BLOB_SIDECARS, COLUMN_SIDECARS } from "./sidecar-responses.ts";

export interface ChainRequestHandlersParts extends Pick<RequestHandlers, "onStatus" | "onPing" | "onGoodbye"> {
  chain: Pick<BeaconChain, "config" | "clock" | "forkChoice" | "finalizedCheckpoint" | "head" | "data" | "history">;
  db: BeaconDb;
  node: Pick<LocalNode, "metadata">;
}

/** Serves requests from peers using the chain and its database. */
export class ChainRequestHandlers implements RequestHandlers {
  readonly onStatus: RequestHandlers["onStatus"];
  readonly onPing: RequestHandlers["onPing"];
  readonly onGoodbye: RequestHandlers["onGoodbye"];
  readonly #chain: ChainRequestHandlersParts["chain"];
  readonly #db: BeaconDb;
  readonly #node: ChainRequestHandlersParts["node"];
  readonly #sidecars: SidecarReader;
  readonly #payloads: PayloadReader;

  constructor({ chain, db, node, onStatus, onPing, onGoodbye }: ChainRequestHandlersParts) {
    this.#chain = chain;
    this.#db = db;
    this.#node = node;
    this.#sidecars = new SidecarReader({ chain, db, history: chain.history });
    this.#payloads = new PayloadReader({ chain, db, history: chain.history });
    this.onStatus = onStatus;
    this.onPing = onPing;
    this.onGoodbye = onGoodbye;
  }

  /** The fork digest belongs to the clock's epoch, not to the head's (phase0/p2p-interface.md, Status). */
  status(): fulu.Status {
    const { head, finalizedCheckpoint, clock } = this.#chain;
    const { epoch, root } = finalizedCheckpoint;
    return {
      forkDigest: this.#forkDigest(clock.currentEpoch),
      finalizedRoot: epoch === GENESIS_EPOCH ? ZERO_HASH : fromHex(root),
      finalizedEpoch: epoch,
      headRoot: fromHex(head.root),
      headSlot: head.slot,
      earliestAvailableSlot: this.#chain.history.earliestAvailableSlot,
    };
  }

  metadata(): fulu.Metadata {
    return this.#node.metadata;
  }

  /**
   * A response must start with the first block in the range (phase0/p2p-interface.md, BeaconBlocksByRange). That block
   * is unknown if the range starts before our history.
   */
  async *blocksByRange({ startSlot, count }: BlockRange): AsyncGenerator<BlockChunk> {
    const fromSlot = Math.max(startSlot, GENESIS_SLOT + 1);
    const { earliestBlockSlot } = this.#chain.history;
    if (fromSlot < earliestBlockSlot) {
      throw new ResourceUnavailable(`No blocks available before slot ${earliestBlockSlot}.`);
    }
    const toSlot = Math.min(startSlot + Math.min(count, this.#maxBlocks) - 1, this.#chain.head.slot);
    if (fromSlot > toSlot) return;
    for (const { root } of await canonicalBlocks(this.#chain, this.#db, fromSlot, toSlot)) {
      const chunk = await this.#chunk(root);
      // The response must be a chain, so it ends at a missing block.
      if (!chunk) return;
      yield chunk;
    }
  }

  async *blocksByRoot(roots: readonly Uint8Array[]): AsyncGenerator<BlockChunk> {
    for (const root of roots.slice(0, this.#maxBlocks)) {
      const chunk = await this.#chunk(root);
      if (chunk) yield chunk;
    }
  }

  /** Serves BeaconBlocksByHead (fulu/p2p-interface.md). */
  async *blocksByHead({ root, count }: BlockAncestry): AsyncGenerator<BlockChunk> {
    const { config, clock } = this.#chain;
    let next: Root = root;
    for (let sent = 0; sent < count; sent++) {
      const chunk = await this.#chunk(next);
      if (!chunk) return;
      const epoch = computeEpochAtSlot(slotOf(chunk.bytes));
      if (epoch + config.MIN_EPOCHS_FOR_BLOCK_REQUESTS < clock.currentEpoch) return;
      yield chunk;
      next = parentRootOf(chunk.bytes);
    }
  }

  blobSidecarsByRange(range: BlockRange): AsyncIterable<ResponseChunk> {
    return this.#sidecars.byRange(BLOB_SIDECARS, range);
  }

  blobSidecarsByRoot(identifiers: readonly SidecarIdentifiers[]): AsyncIterable<ResponseChunk> {
    return this.#sidecars.byRoot(BLOB_SIDECARS, identifiers);
  }

  columnSidecarsByRange(range: BlockRange, columns: readonly number[]): AsyncIterable<ResponseChunk> {
    return this.#sidecars.byRange(COLUMN_SIDECARS, range, columns);
  }

  columnSidecarsByRoot(identifiers: readonly SidecarIdentifiers[]): AsyncIterable<ResponseChunk> {
    return this.#sidecars.byRoot(COLUMN_SIDECARS, identifiers);
  }

  payloadsByRange(range: BlockRange): AsyncIterable<ResponseChunk> {
    return this.#payloads.byRange(range);
  }

  payloadsByRoot(roots: readonly Uint8Array[]): AsyncIterable<ResponseChunk> {
    return this.#payloads.byRoot(roots);
  }

  /** The genesis block has no signature and is never served. */
  async #chunk(root: Root): Promise<BlockChunk | null> {
    const bytes = await this.#db.blocks.get(root);
    if (!bytes) return null;
    const slot = slotOf(bytes);
    return slot === GENESIS_SLOT ? null : { bytes, forkDigest: this.#forkDigest(computeEpochAtSlot(slot)) };
  }

  get #maxBlocks(): number {
    const { config, clock } = this.#chain;
    return maxRequestBlocks(config, clock.currentEpoch);
  }

  #forkDigest(epoch: Epoch): Uint8Array {
    const { config } = this.#chain;
    return config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(epoch));
  }
}
