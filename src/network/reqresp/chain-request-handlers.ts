import { GENESIS_EPOCH, GENESIS_SLOT, ZERO_HASH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch, fulu, RootHex, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { parentRootOf, slotOf } from "../../chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Root, SlotAndRoot } from "../../db/keys.ts";
import type { LocalNode } from "../local-node.ts";
import { ResourceUnavailable } from "./errors.ts";
import type { BlockChunk, BlockRange, RequestHandlers } from "./interface.ts";
import { maxRequestBlocks } from "./limits.ts";

export interface ChainRequestHandlersParts extends Pick<RequestHandlers, "onStatus" | "onPing" | "onGoodbye"> {
  chain: Pick<BeaconChain, "config" | "clock" | "forkChoice" | "finalizedCheckpoint" | "head" | "history">;
  db: BeaconDb;
  node: Pick<LocalNode, "metadata">;
}

/** Answers peers from the chain and its database. */
export class ChainRequestHandlers implements RequestHandlers {
  readonly onStatus: RequestHandlers["onStatus"];
  readonly onPing: RequestHandlers["onPing"];
  readonly onGoodbye: RequestHandlers["onGoodbye"];
  readonly #chain: ChainRequestHandlersParts["chain"];
  readonly #db: BeaconDb;
  readonly #node: ChainRequestHandlersParts["node"];

  constructor({ chain, db, node, onStatus, onPing, onGoodbye }: ChainRequestHandlersParts) {
    this.#chain = chain;
    this.#db = db;
    this.#node = node;
    this.onStatus = onStatus;
    this.onPing = onPing;
    this.onGoodbye = onGoodbye;
  }

  /** phase0/p2p-interface.md, Status: the digest is that of the clock's epoch, not of the head's. */
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
   * phase0/p2p-interface.md, BeaconBlocksByRange: an answer begins with the first block that exists in the range. Of a range
   * that begins before our history we cannot tell which one that is.
   */
  async *blocksByRange({ startSlot, count }: BlockRange): AsyncGenerator<BlockChunk> {
    const fromSlot = Math.max(startSlot, GENESIS_SLOT + 1);
    const { earliestBlockSlot } = this.#chain.history;
    if (fromSlot < earliestBlockSlot) {
      throw new ResourceUnavailable(`This node holds no blocks before slot ${earliestBlockSlot}.`);
    }
    const toSlot = Math.min(startSlot + Math.min(count, this.#maxBlocks) - 1, this.#chain.head.slot);
    if (fromSlot > toSlot) return;
    for (const root of await canonicalRoots(this.#chain, this.#db, fromSlot, toSlot)) {
      const chunk = await this.#chunk(root);
      // A block that is gone would leave a gap in what has to be a chain.
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

  /** Nobody signed the genesis block, so it is nothing to be sent. */
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

/**
 * The roots of the canonical blocks of the slots, both inclusive, in ascending order: of one chain, that of the head as it is
 * now, whatever happens to the head while the blocks are read.
 */
async function canonicalRoots(
  chain: Pick<BeaconChain, "forkChoice" | "head">,
  db: BeaconDb,
  fromSlot: Slot,
  toSlot: Slot,
): Promise<RootHex[]> {
  const newestFinal = await db.finalizedBlocks.lastAtOrBefore(Number.POSITIVE_INFINITY);
  const recent = newestFinal && newestFinal.slot >= toSlot ? [] : await recentBlocks(chain, db, newestFinal);
  const roots: RootHex[] = [];
  const finalRange = { from: fromSlot, to: Math.min(toSlot, newestFinal?.slot ?? -1) };
  for await (const { root } of db.finalizedBlocks.range(finalRange)) roots.push(root);
  for (const { slot, root } of recent) if (slot >= fromSlot && slot <= toSlot) roots.push(root);
  return roots;
}

/** The blocks after the newest final one up to the head, in ascending order. */
async function recentBlocks(
  { forkChoice, head }: Pick<BeaconChain, "forkChoice" | "head">,
  db: BeaconDb,
  newestFinal: SlotAndRoot | null,
): Promise<SlotAndRoot[]> {
  const finalSlot = newestFinal?.slot ?? -1;
  const recent: SlotAndRoot[] = [];
  let parentRoot: RootHex | undefined;
  for (const block of forkChoice.ancestors(head.root)) {
    if (block.slot <= finalSlot) return recent.reverse();
    recent.push(block);
    parentRoot = block.parentRoot;
  }
  // Blocks leave fork choice a moment before the finalized part of the database has them.
  while (parentRoot !== undefined && parentRoot !== newestFinal?.root) {
    const bytes = await db.blocks.get(parentRoot);
    if (!bytes || slotOf(bytes) <= finalSlot) break;
    recent.push({ slot: slotOf(bytes), root: parentRoot });
    parentRoot = parentRootOf(bytes);
  }
  return recent.reverse();
}
