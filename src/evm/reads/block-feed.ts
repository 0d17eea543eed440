import type { RootHex } from "@lodestar/types";
import type { EvmEngine } from "../engine/evm-engine.ts";
import { encodeReceipted } from "../engine/storage/block-archive.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import type { BlockAttributes } from "../execution/block-executor.ts";
import { toHex } from "../execution/payload.ts";
import type { Override } from "../overrides/override.ts";
import type { World } from "../state/world.ts";
import { type WorldChange, worldChanges } from "../state/world-change.ts";

/** One step in bringing a replica's blocks up to date with its engine. A block's state is sent before the block. */
export type FeedItem =
  | WorldChange
  | readonly [kind: "block", block: FeedBlock]
  | readonly [kind: "drop", hash: RootHex];

export interface FeedBlock {
  /** Encoded with receipts and senders. */
  bytes: Uint8Array;
  value: bigint;
  /** Recent block hashes; omitted if the replica already has the parent's hashes. */
  hashes?: readonly Uint8Array[];
  overrides?: readonly Override[];
}

export interface FeedBatch {
  items: readonly FeedItem[];
  /** Overrides that a child of the block would apply. Undefined if there are more items. */
  overrides: readonly Override[] | undefined;
}

/** Structured-cloneable plan for the pending block. */
export interface FeedPlan {
  key: string;
  plan?: {
    attributes: BlockAttributes;
    overrides: readonly Override[];
    candidates: readonly { raw: Uint8Array; sender: Uint8Array }[];
  };
}

/** Limits the size of a message and the time it takes from the engine. */
const ITEMS_PER_BATCH = 2000;

/** Runs in the engine's thread and keeps a replica in another thread up to date. */
export class BlockFeed {
  readonly #engine: EvmEngine;
  /** Hashes of the blocks the replica already has. */
  readonly #sent: Set<RootHex>;
  /** State last sent to the replica. */
  #world: World;
  #items: Generator<FeedItem> | undefined;

  constructor(engine: EvmEngine) {
    const { genesis } = engine.blocks;
    this.#engine = engine;
    this.#sent = new Set([toHex(genesis.hash)]);
    this.#world = genesis.world;
  }

  /** Returns the next items the replica is missing, and at last the overrides on a block. Calls must not overlap. */
  next(hash: RootHex): FeedBatch {
    this.#items ??= this.#missing();
    const items: FeedItem[] = [];
    while (items.length < ITEMS_PER_BATCH) {
      const { value, done } = this.#items.next();
      if (done) {
        this.#items = undefined;
        return { items, overrides: this.#overridesOn(hash) };
      }
      items.push(value);
    }
    return { items, overrides: undefined };
  }

  /** Returns the plan for a child of the block. Omits the plan if its key equals `known`. */
  async pendingPlan(parent: RootHex, known?: string): Promise<FeedPlan> {
    const block = this.#engine.blocks.get(parent);
    if (block === undefined) throw new Error(`Execution block ${parent} is no longer held.`);
    const { key, plan } = await this.#engine.pendingPlan(block, known);
    if (plan === undefined) return { key };
    const candidates = Array.from(plan.candidates, ({ raw, sender }) => ({ raw, sender: sender.bytes }));
    return { key, plan: { ...plan, candidates } };
  }

  #overridesOn(hash: RootHex): readonly Override[] {
    const block = this.#engine.blocks.get(hash);
    return block === undefined ? [] : this.#engine.overridesOn(block);
  }

  *#missing(): Generator<FeedItem> {
    const { blocks } = this.#engine;
    for (const hash of this.#sent) {
      if (blocks.get(hash) !== undefined) continue;
      this.#sent.delete(hash);
      yield ["drop", hash];
    }
    for (const block of blocks.all()) {
      const hash = toHex(block.hash);
      if (this.#sent.has(hash)) continue;
      yield* worldChanges(this.#world, block.world);
      this.#world = block.world;
      this.#sent.add(hash);
      yield ["block", this.#encode(block)];
    }
  }

  #encode(block: ExecutedBlock): FeedBlock {
    const { value, overrides, blockHashes } = block;
    const isConnected = this.#sent.has(toHex(block.header.parentHash));
    return {
      bytes: encodeReceipted(block),
      value,
      ...(!isConnected && { hashes: blockHashes.list() }),
      ...(overrides && { overrides }),
    };
  }
}
