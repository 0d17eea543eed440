import type { BeaconConfig } from "@lodestar/config";
import { GENESIS_SLOT, ZERO_HASH_HEX } from "@lodestar/params";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import type { SlotAndRoot } from "../../db/keys.ts";
import type { DistantGenesis } from "../distant-genesis.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { LruMap } from "../lru-map.ts";
import type { PayloadVerification } from "../payload-verification.ts";
import { parentRootOf, slotOf } from "./block-encoding.ts";
import { readStoredBlock } from "./stored-block.ts";

/** Where a block stands on the chain. */
export interface BlockPosition {
  root: RootHex;
  slot: Slot;
  /** The block is the head or one of its ancestors. */
  canonical: boolean;
  /** The block is the finalized checkpoint's or one of its ancestors. */
  finalized: boolean;
  executionOptimistic: boolean;
}

export interface ChainBlock extends BlockPosition {
  signed: SignedBeaconBlock;
}

/** Where a block hangs on the chain. */
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
  /** Of a chain that was started from a later state. */
  genesis: DistantGenesis | undefined;
}

/** Every block the node holds, canonical or not, and where each stands on the chain. */
export class BlockStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #forkChoice: ForkChoice;
  readonly #payloads: PayloadVerification;
  readonly #genesis: DistantGenesis | undefined;
  readonly #recent = new LruMap<RootHex, SignedBeaconBlock>(RECENT_BLOCKS);

  constructor({ config, db, forkChoice, payloads, genesis }: BlockStoreParts) {
    this.#config = config;
    this.#db = db;
    this.#forkChoice = forkChoice;
    this.#payloads = payloads;
    this.#genesis = genesis;
  }

  /** Keeps a block that was just imported at hand. */
  remember(root: RootHex, signed: SignedBeaconBlock): void {
    this.#recent.set(root, signed);
  }

  /** Forgets what is at hand, so that only what the database holds is found. */
  clear(): void {
    this.#recent.clear();
  }

  /** Throws a `DatabaseCorruptError` for bytes that are not those of the block. */
  async signedByRoot(root: RootHex): Promise<SignedBeaconBlock | null> {
    const recent = this.#recent.get(root);
    if (recent) return recent;
    const bytes = await this.#db.blocks.get(root);
    if (bytes) return readStoredBlock({ config: this.#config, db: this.#db }, root, bytes);
    const genesis = await this.#genesis?.facts();
    return genesis?.root === root ? genesis.block : null;
  }

  /** Reads no more of the block than that. */
  async link(root: RootHex): Promise<BlockLink | null> {
    const bytes = await this.#db.blocks.get(root);
    if (bytes) return { slot: slotOf(bytes), parentRoot: parentRootOf(bytes) };
    const genesis = await this.#genesis?.facts();
    if (genesis?.root !== root) return null;
    return { slot: GENESIS_SLOT, parentRoot: ZERO_HASH_HEX };
  }

  async byRoot(root: RootHex): Promise<ChainBlock | null> {
    const signed = await this.signedByRoot(root);
    return signed && { ...(await this.#positionAt(root, signed.message.slot)), signed };
  }

  /** Also of the block that the chain was started from, which may not be held itself. */
  async positionOf(root: RootHex): Promise<BlockPosition | null> {
    const slot = this.#forkChoice.get(root)?.slot ?? (await this.#storedSlot(root));
    return slot === null ? null : this.#positionAt(root, slot);
  }

  /** The canonical block of exactly that slot. */
  async canonicalAtSlot(slot: Slot): Promise<ChainBlock | null> {
    const root = await this.rootAtSlot(slot);
    return root === null ? null : this.#indexed(root);
  }

  /** Null on a chain that was started from a later state, when the genesis state is not at hand. */
  genesis(): Promise<ChainBlock | null> {
    return this.canonicalAtSlot(GENESIS_SLOT);
  }

  /** All known blocks of that slot, the canonical one first. */
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

  /** The root of the canonical block of exactly that slot. */
  async rootAtSlot(slot: Slot): Promise<RootHex | null> {
    // Fork choice first: it lets go of what became final only when that is in the database.
    const recent = this.#forkChoice.canonicalAtSlot(slot);
    if (recent) return recent.slot === slot ? recent.root : null;
    return (await this.#db.finalizedBlocks.get(slot)) ?? this.#genesisRootAt(slot);
  }

  /** The root of the canonical block at that slot or, when the slot is empty, before it. */
  async rootAtOrBefore(slot: Slot): Promise<RootHex | null> {
    const recent = this.#forkChoice.canonicalAtSlot(slot);
    return recent?.root ?? (await this.#db.finalizedBlocks.lastAtOrBefore(slot))?.root ?? this.#genesisRootAt(slot);
  }

  async isCanonical(root: RootHex, slot: Slot): Promise<boolean> {
    return (await this.rootAtSlot(slot)) === root;
  }

  /** What lies between a distant genesis and the history of this node is not known, so that it tells of its own slot alone. */
  async #genesisRootAt(slot: Slot): Promise<RootHex | null> {
    return slot === GENESIS_SLOT ? ((await this.#genesis?.facts())?.root ?? null) : null;
  }

  /** Up to here canonical blocks can no longer change. */
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
    // The genesis block has no parent, and names the zero root in its place.
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

  /** A block that the chain is known to have; of these only that which the chain was started from need not be held. */
  async #indexed(root: RootHex): Promise<ChainBlock | null> {
    const block = await this.byRoot(root);
    if (block || root === (await this.#oldest())?.root) return block;
    throw new DatabaseCorruptError(this.#db.path, `the block ${root} is missing`);
  }

  #oldest(): Promise<SlotAndRoot | null> {
    return this.#db.finalizedBlocks.firstAfter(GENESIS_SLOT - 1);
  }
}
