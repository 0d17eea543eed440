import type { Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Clock } from "../chain/clock/clock.ts";

export interface PendingBlock {
  root: RootHex;
  parentRoot: RootHex;
  slot: Slot;
  signed: SignedBeaconBlock;
  /** Those that gave the block. */
  peers: Set<string>;
  /** When it came, in chain time. */
  arrivedAt: number;
  /** Whether we had asked for it; what peers send unasked they may not have looked at closely. */
  isAsked: boolean;
}

interface Entry extends PendingBlock {
  bytes: number;
  since: Slot;
}

interface PendingBlocksLimits {
  count: number;
  bytes: number;
  /** Of those that a peer sent unasked. */
  perPeer: number;
  /** Slots after which a block is given up. */
  slots: number;
}

/**
 * Blocks that wait for their parents. Nothing of them is verified but that their proposers signed them, so it is bounded how many there are, and
 * of whom.
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

  /** Whether the peer may send one more unasked. */
  hasRoomFor(peerId: string): boolean {
    let ofPeer = 0;
    for (const { peers, isAsked } of this.#entries.values()) if (!isAsked && peers.has(peerId)) ofPeer++;
    return ofPeer < this.#limits.perPeer;
  }

  /** Undefined when there is no room. */
  add(
    signed: SignedBeaconBlock,
    {
      root,
      peerId,
      isAsked,
      clock,
    }: { root: RootHex; peerId: string; isAsked: boolean; clock: Pick<Clock, "currentSlot" | "nowSeconds"> },
  ): PendingBlock | undefined {
    const known = this.#entries.get(root);
    if (known) {
      // The root does not cover the signature, and nobody is to answer for that of another.
      if (Buffer.compare(known.signed.signature, signed.signature) === 0) known.peers.add(peerId);
      return known;
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
      isAsked,
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

  /** The blocks whose parents are not held themselves. */
  oldest(): PendingBlock[] {
    return [...this.#entries.values()].filter(({ parentRoot }) => !this.#entries.has(parentRoot));
  }

  childrenOf(root: RootHex): PendingBlock[] {
    return [...this.#entries.values()].filter(({ parentRoot }) => parentRoot === root);
  }

  /** Those that wait for the block, directly or not, parents before their children. */
  descendantsOf(root: RootHex): PendingBlock[] {
    const found = this.childrenOf(root);
    // Roots are hashes over the parent's root, so no block is its own ancestor and this ends.
    for (const { root: next } of found) found.push(...this.childrenOf(next));
    return found;
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
