import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Clock } from "../chain/clock/clock.ts";

/** A block waiting for its parent. */
export interface PendingBlock {
  root: RootHex;
  parentRoot: RootHex;
  slot: Slot;
  signed: SignedBeaconBlock;
  /** Peers that sent the block. */
  peers: Set<string>;
  /** Arrival time in chain time. */
  arrivedAt: number;
  /** True if this node requested the block. The sender of an unsolicited block may not have checked it. */
  isRequested: boolean;
}

interface Entry extends PendingBlock {
  bytes: number;
  since: Slot;
}

interface PendingBlocksLimits {
  count: number;
  bytes: number;
  /** Maximum number of unsolicited blocks per peer. */
  perPeer: number;
  /** Number of slots after which a block is dropped. */
  slots: number;
}

/**
 * Blocks waiting for their parents. Only their proposer signatures are verified, so their number is limited in total
 * and per peer.
 */
export class PendingBlocks {
  readonly #config: BeaconConfig;
  readonly #limits: PendingBlocksLimits;
  readonly #entries = new Map<RootHex, Entry>();
  #bytes = 0;

  constructor(config: BeaconConfig, limits: PendingBlocksLimits) {
    this.#config = config;
    this.#limits = limits;
  }

  get(root: RootHex): PendingBlock | undefined {
    return this.#entries.get(root);
  }

  has(root: RootHex): boolean {
    return this.#entries.has(root);
  }

  /** Returns true if the peer may send another unsolicited block. */
  hasRoomFor(peerId: string): boolean {
    let ofPeer = 0;
    for (const { peers, isRequested } of this.#entries.values()) if (!isRequested && peers.has(peerId)) ofPeer++;
    return ofPeer < this.#limits.perPeer;
  }

  /** Returns undefined if adding the block would exceed a limit. */
  add(
    signed: SignedBeaconBlock,
    {
      root,
      peerId,
      isRequested,
      clock,
    }: { root: RootHex; peerId: string; isRequested: boolean; clock: Pick<Clock, "currentSlot" | "nowSeconds"> },
  ): PendingBlock | undefined {
    const existing = this.#entries.get(root);
    if (existing) {
      // The root does not cover the signature. A peer is only responsible for the signature it sent.
      if (Buffer.compare(existing.signed.signature, signed.signature) === 0) existing.peers.add(peerId);
      return existing;
    }
    const { slot, parentRoot } = signed.message;
    const type = this.#config.getForkTypes(slot).SignedBeaconBlock as Type<SignedBeaconBlock>;
    const bytes = type.value_serializedSize(signed);
    if (this.#entries.size >= this.#limits.count || this.#bytes + bytes > this.#limits.bytes) return undefined;
    const entry = {
      root,
      parentRoot: toRootHex(parentRoot),
      slot,
      signed,
      peers: new Set([peerId]),
      arrivedAt: clock.nowSeconds(),
      isRequested,
      bytes,
      since: clock.currentSlot,
    };
    this.#entries.set(root, entry);
    this.#bytes += bytes;
    return entry;
  }

  remove(root: RootHex): PendingBlock | undefined {
    const entry = this.#entries.get(root);
    if (entry === undefined) return undefined;
    this.#entries.delete(root);
    this.#bytes -= entry.bytes;
    return entry;
  }

  /** Returns the blocks whose parent is not pending. */
  oldest(): PendingBlock[] {
    return [...this.#entries.values()].filter(({ parentRoot }) => !this.#entries.has(parentRoot));
  }

  childrenOf(root: RootHex): PendingBlock[] {
    return [...this.#entries.values()].filter(({ parentRoot }) => parentRoot === root);
  }

  /** Returns all descendants of the block, with parents before children. */
  descendantsOf(root: RootHex): PendingBlock[] {
    const descendants = this.childrenOf(root);
    // Terminates, since a root is a hash over the parent root and no block is its own ancestor.
    for (const { root: next } of descendants) descendants.push(...this.childrenOf(next));
    return descendants;
  }

  removeDescendantsOf(root: RootHex): PendingBlock[] {
    const descendants = this.descendantsOf(root);
    for (const each of descendants) this.remove(each.root);
    return descendants;
  }

  prune(finalizedSlot: Slot, now: Slot): void {
    for (const { root, slot, since } of [...this.#entries.values()]) {
      if (slot <= finalizedSlot || now - since > this.#limits.slots) this.remove(root);
    }
  }
}
