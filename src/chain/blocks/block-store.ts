import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT, ZERO_HASH_HEX } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { LruMap } from "../../collections/lru-map.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { GenesisLoader } from "../anchor/genesis-loader.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { PayloadVerification } from "../fork-choice/payloads/payload-verification.ts";
import { parentRootOf, slotOf } from "./block-encoding.ts";
import { readStoredBlock } from "./stored-block.ts";

/** Position of a block relative to the chain. */
export interface BlockPosition {
  root: RootHex;
  slot: Slot;
  /** True for the head and its ancestors. */
  canonical: boolean;
  /** True for the finalized block and its ancestors. */
  finalized: boolean;
  executionOptimistic: boolean;
}

export interface ChainBlock extends BlockPosition {
  signed: SignedBeaconBlock;
}

/** Slot and parent root of a block. */
export interface BlockLink {
  slot: Slot;
  parentRoot: RootHex;
}

const RECENT_BLOCKS = 64;

interface BlockStoreParts {
  config: BeaconConfig;
  db: BeaconDb;
  forkChoice: ForkChoice;
  payloads: PayloadVerification;
  /** Set if the chain was started from a state after genesis. */
  genesis: GenesisLoader | undefined;
}

/** All blocks known to the node, canonical or not, with their positions. */
export class BlockStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #forkChoice: ForkChoice;
  readonly #payloads: PayloadVerification;
  readonly #genesis: GenesisLoader | undefined;
  readonly #recent = new LruMap<RootHex, SignedBeaconBlock>(RECENT_BLOCKS);

  constructor({ config, db, forkChoice, payloads, genesis }: BlockStoreParts) {
    this.#config = config;
    this.#db = db;
    this.#forkChoice = forkChoice;
    this.#payloads = payloads;
    this.#genesis = genesis;
  }

  /** Caches an imported block. */
  cache(root: RootHex, signed: SignedBeaconBlock): void {
    this.#recent.set(root, signed);
  }

  /** Clears the cache, so only blocks in the database are found. */
  clear(): void {
    this.#recent.clear();
  }

  /** Throws a `DatabaseCorruptError` if the stored bytes do not match the root. */
  async signedByRoot(root: RootHex): Promise<SignedBeaconBlock | null> {
    const recent = this.#recent.get(root);
    if (recent) return recent;
    const bytes = await this.#db.blocks.get(root);
    if (bytes) return readStoredBlock({ config: this.#config, db: this.#db }, root, bytes);
    const genesis = await this.#genesis?.info();
    return genesis?.root === root ? genesis.block : null;
  }

  /** Reads only the slot and the parent root. */
  async link(root: RootHex): Promise<BlockLink | null> {
    const bytes = await this.#db.blocks.get(root);
    if (bytes) return { slot: slotOf(bytes), parentRoot: parentRootOf(bytes) };
    const genesis = await this.#genesis?.info();
    if (genesis?.root !== root) return null;
    return { slot: GENESIS_SLOT, parentRoot: ZERO_HASH_HEX };
  }

  async byRoot(root: RootHex): Promise<ChainBlock | null> {
    const signed = await this.signedByRoot(root);
    return signed && { ...(await this.#positionAt(root, signed.message.slot)), signed };
  }

  /** Returns the position of a block. Includes the anchor block, which may not be stored. */
  async positionOf(root: RootHex): Promise<BlockPosition | null> {
    const slot = this.#forkChoice.get(root)?.slot ?? (await this.#storedSlot(root));
    return slot === null ? null : this.#positionAt(root, slot);
  }

  /** Returns the canonical block at exactly the given slot. */
  async canonicalAtSlot(slot: Slot): Promise<ChainBlock | null> {
    const root = await this.rootAtSlot(slot);
    return root === null ? null : this.#indexed(root);
  }

  /** Returns null if the chain was started from a state after genesis and the genesis state is unavailable. */
  genesis(): Promise<ChainBlock | null> {
    return this.canonicalAtSlot(GENESIS_SLOT);
  }

  /** Returns all known blocks at a slot, the canonical one first. */
  async atSlot(slot: Slot): Promise<ChainBlock[]> {
    const roots = new Set(this.#forkChoice.blocksAtSlot(slot).map(({ root }) => root));
    const canonicalRoot = await this.rootAtSlot(slot);
    if (canonicalRoot !== null) roots.add(canonicalRoot);
    const blocks = await this.#load(roots);
    return blocks.sort((a, b) => Number(b.canonical) - Number(a.canonical));
  }

  async childrenOf(root: RootHex): Promise<ChainBlock[]> {
    const roots = new Set(this.#forkChoice.childrenOf(root).map((child) => child.root));
    if (roots.size === 0 && !this.#forkChoice.has(root)) {
      const finalizedChild = await this.#finalizedChildOf(root);
      if (finalizedChild !== null) roots.add(finalizedChild);
    }
    return this.#load(roots);
  }

  /** Returns the root of the canonical block at exactly the given slot. */
  async rootAtSlot(slot: Slot): Promise<RootHex | null> {
    // Check fork choice first, because it prunes finalized blocks only once they are in the database.
    const recent = this.#forkChoice.canonicalAtSlot(slot);
    if (recent) return recent.slot === slot ? recent.root : null;
    return (await this.#db.finalizedBlocks.get(slot)) ?? this.#genesisRootAt(slot);
  }

  /** Returns the root of the canonical block at or before a slot. */
  async rootAtOrBefore(slot: Slot): Promise<RootHex | null> {
    const recent = this.#forkChoice.canonicalAtSlot(slot);
    return recent?.root ?? (await this.#db.finalizedBlocks.lastAtOrBefore(slot))?.root ?? this.#genesisRootAt(slot);
  }

  async isCanonical(root: RootHex, slot: Slot): Promise<boolean> {
    return (await this.rootAtSlot(slot)) === root;
  }

  /**
   * Returns genesis only for slot 0, since blocks between a separately loaded genesis and the node's history are
   * unknown.
   */
  async #genesisRootAt(slot: Slot): Promise<RootHex | null> {
    return slot === GENESIS_SLOT ? ((await this.#genesis?.info())?.root ?? null) : null;
  }

  /** Slot of the finalized block. Canonical blocks up to this slot cannot change. */
  get #finalizedBlockSlot(): Slot {
    return this.#forkChoice.get(this.#forkChoice.finalized.root)?.slot ?? 0;
  }

  async #storedSlot(root: RootHex): Promise<Slot | null> {
    const signed = await this.signedByRoot(root);
    if (signed) return signed.message.slot;
    const oldest = await this.#oldest();
    return oldest?.root === root ? oldest.slot : null;
  }

  async #positionAt(root: RootHex, slot: Slot): Promise<BlockPosition> {
    const canonical = await this.isCanonical(root, slot);
    const finalized = canonical && slot <= this.#finalizedBlockSlot;
    const executionOptimistic = this.#payloads.isOptimistic({ root, slot }, { isFinalized: finalized });
    return { root, slot, canonical, finalized, executionOptimistic };
  }

  async #finalizedChildOf(root: RootHex): Promise<RootHex | null> {
    // The parent root of the genesis block is zero.
    if (root === ZERO_HASH_HEX) return this.rootAtSlot(GENESIS_SLOT);
    const parent = await this.byRoot(root);
    if (!parent?.finalized) return null;
    const next = await this.#db.finalizedBlocks.firstAfter(parent.slot);
    const bytes = next && (await this.#db.blocks.get(next.root));
    return bytes && parentRootOf(bytes) === root ? next.root : null;
  }

  async #load(roots: Iterable<RootHex>): Promise<ChainBlock[]> {
    const blocks = await Promise.all(Array.from(roots, (root) => this.#indexed(root)));
    return blocks.filter((block) => block !== null);
  }

  /** Loads a block. Throws if the block is missing, unless it is the anchor block. */
  async #indexed(root: RootHex): Promise<ChainBlock | null> {
    const block = await this.byRoot(root);
    if (block || root === (await this.#oldest())?.root) return block;
    throw new DatabaseCorruptError(this.#db.path, `block ${root} is missing`);
  }

  #oldest(): Promise<SlotAndRoot | null> {
    return this.#db.finalizedBlocks.firstAfter(GENESIS_SLOT - 1);
  }
}
