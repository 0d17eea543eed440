import { Address } from "@ethereumjs/util";
import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { Remote } from "../../threads/remote.ts";
import { type BlockPlan, buildPlanned } from "../engine/block-builder.ts";
import { BlockReplay } from "../engine/block-replay.ts";
import type { PendingPlan } from "../engine/evm-engine.ts";
import { ExecutedBlocks } from "../engine/executed-blocks.ts";
import { BlockArchive, decodeReceipted } from "../engine/storage/block-archive.ts";
import type { EvmStore } from "../engine/storage/evm-store.ts";
import { StoredBase } from "../engine/storage/stored-base.ts";
import type { ChainTags } from "../eth/block-id.ts";
import type { EthEngine } from "../eth/eth-engine.ts";
import { SharedTags } from "../eth/shared-tags.ts";
import type { Block, ExecutedBlock } from "../execution/block.ts";
import { BlockExecutor } from "../execution/block-executor.ts";
import { BlockHashes } from "../execution/block-hashes.ts";
import { nextBaseFee } from "../execution/fees.ts";
import { toHex } from "../execution/payload.ts";
import type { ChainRules } from "../execution/rules.ts";
import { decodeTransaction } from "../execution/transaction.ts";
import { ChainOverrides } from "../overrides/chain-overrides.ts";
import { headerChange, type Override, overrideState } from "../overrides/override.ts";
import { FollowingWorld } from "../state/world-change.ts";
import type { BlockFeed, FeedBlock, FeedItem } from "./block-feed.ts";

/** Memory shared between a replica, its engine and the node. */
export interface ReplicaMemory {
  /** Counter of the engine's changes. */
  revision: Int32Array;
  tags: SharedArrayBuffer;
}

interface EngineReplicaParts {
  rules: ChainRules;
  genesis: ExecutedBlock;
  secondsPerSlot: number;
  feed: Remote<BlockFeed>;
  memory: ReplicaMemory;
  store: EvmStore;
  logger: Logger;
}

/** Pending overrides that a child of a block would apply. */
interface WaitingOverrides {
  on: RootHex;
  overrides: readonly Override[];
}

/**
 * Read-only copy of an engine that runs in another thread. Catches up with the engine's blocks when `follow` is called.
 */
export class EngineReplica implements EthEngine {
  readonly executor: BlockExecutor;
  readonly blocks: ExecutedBlocks;
  readonly archive: BlockArchive;
  readonly secondsPerSlot: number;
  readonly #feed: Remote<BlockFeed>;
  readonly #revision: Int32Array;
  readonly #tags: SharedTags;
  readonly #replay: BlockReplay;
  readonly #base: StoredBase;
  readonly #world: FollowingWorld;
  /** Revision that the blocks are known to include. */
  #followed: number | undefined;
  #fetching: Promise<void> | undefined;
  #waiting: WaitingOverrides;
  #overridden: ExecutedBlock;
  #nextSlotTime = 0;

  constructor({ rules, genesis, secondsPerSlot, feed, memory, store, logger }: EngineReplicaParts) {
    const executor = new BlockExecutor(rules);
    const blocks = new ExecutedBlocks(genesis, Number.POSITIVE_INFINITY);
    const overrides = new ChainOverrides();
    const base = new StoredBase({ rules, logger });
    overrides.connect(store);
    base.connect(store);
    this.executor = executor;
    this.blocks = blocks;
    this.archive = new BlockArchive(store, rules);
    this.secondsPerSlot = secondsPerSlot;
    this.#feed = feed;
    this.#revision = memory.revision;
    this.#tags = new SharedTags(memory.tags);
    this.#base = base;
    this.#replay = new BlockReplay({ executor, blocks, overrides, base, secondsPerSlot, logger });
    this.#world = new FollowingWorld(genesis.world);
    this.#waiting = { on: toHex(genesis.hash), overrides: [] };
    this.#overridden = genesis;
  }

  get rules(): ChainRules {
    return this.executor.rules;
  }

  /**
   * Resolves once the replica has caught up with all changes the engine had made at the time of the call. Returns the
   * current tags.
   */
  async follow(): Promise<ChainTags> {
    const wanted = Atomics.load(this.#revision, 0);
    for (;;) {
      const tags = this.#tags.get();
      if (this.#isAt(wanted, tags.latest)) return tags;
      this.#fetching ??= this.#fetch(tags.latest).finally(() => {
        this.#fetching = undefined;
      });
      await this.#fetching;
    }
  }

  overridden(block: ExecutedBlock): ExecutedBlock {
    return toHex(block.hash) === this.#waiting.on ? this.#overridden : block;
  }

  nextBaseFee({ header }: Pick<Block, "header">): bigint {
    const isWaiting = header === this.blocks.get(this.#waiting.on)?.header;
    const change = isWaiting ? headerChange(this.#waiting.overrides) : {};
    return change.baseFeePerGas ?? nextBaseFee(header);
  }

  nextTimestamp({ header }: Pick<Block, "header">): number {
    return Math.max(Number(header.timestamp) + this.secondsPerSlot, this.#nextSlotTime);
  }

  setNextSlot(timestamp = 0): void {
    this.#nextSlotTime = timestamp;
  }

  async pendingPlan(parent: ExecutedBlock, known?: string): Promise<PendingPlan> {
    const { key, plan } = await this.#feed.pendingPlan(toHex(parent.hash), known);
    if (plan === undefined) return { key };
    const rules = this.rules.at(plan.attributes.timestamp);
    const candidates = plan.candidates.map(({ raw, sender }) => decodeTransaction(raw, rules, new Address(sender)));
    return { key, plan: { ...plan, candidates } };
  }

  buildPlanned(parent: ExecutedBlock, plan: BlockPlan): Promise<ExecutedBlock> {
    return buildPlanned(this.executor, parent, plan);
  }

  execute(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    return this.#replay.execute(parent, block);
  }

  stateBefore(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    return this.#replay.stateBefore(parent, block);
  }

  openBase(): Promise<(blockHash: RootHex) => ExecutedBlock | undefined> {
    return this.#base.open();
  }

  /** Returns true if the replica has reached the revision. The counter may wrap around. */
  #isAt(revision: number, latest: RootHex): boolean {
    return this.#followed !== undefined && ((this.#followed - revision) | 0) >= 0 && this.#waiting.on === latest;
  }

  async #fetch(latest: RootHex): Promise<void> {
    const revision = Atomics.load(this.#revision, 0);
    let overrides: readonly Override[] | undefined;
    while (overrides === undefined) {
      const batch = await this.#feed.next(latest);
      for (const item of batch.items) this.#apply(item);
      overrides = batch.overrides;
    }
    const block = this.blocks.get(latest) ?? this.blocks.genesis;
    this.#waiting = { on: latest, overrides };
    this.#overridden = overrideState(block, overrides, this.rules.crypto.keccak);
    this.#followed = revision;
  }

  #apply(item: FeedItem): void {
    switch (item[0]) {
      case "block":
        this.blocks.add(this.#decode(item[1]));
        return;
      case "drop":
        this.blocks.drop(item[1]);
        return;
      default:
        this.#world.apply(item);
    }
  }

  #decode({ bytes, value, hashes, overrides }: FeedBlock): ExecutedBlock {
    const block = decodeReceipted(bytes, this.rules);
    const { hash, header } = block;
    const blockHashes = hashes
      ? BlockHashes.of(header.number, hashes)
      : this.blocks.get(toHex(header.parentHash))!.blockHashes.append(hash);
    return { ...block, value, world: this.#world.seal(), blockHashes, ...(overrides && { overrides }) };
  }
}
