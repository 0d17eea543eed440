import { GENESIS_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { Checkpoint } from "../fork-choice/types.ts";
import { LruMap } from "../lru-map.ts";
import { SerialQueues } from "../serial-queue.ts";
import { advanceToSlot, replayBlocks } from "./advance.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

type State = CachedBeaconStateAllForks;

export interface StateStoreLimits {
  /** Post-states of recent blocks. */
  blockStates: number;
  /** Block states advanced to a slot: checkpoints, and pre-states of blocks about to come. */
  advancedStates: number;
  /** States far behind the head that somebody asked for. */
  historicalStates: number;
}

const DEFAULT_STATE_LIMITS: StateStoreLimits = { blockStates: 64, advancedStates: 16, historicalStates: 4 };

/** What lies farther behind the head counts as history, final or not. */
const RECENT_SLOTS = 16 * SLOTS_PER_EPOCH;
const HISTORY = "history";

/** A state lies before the history of this node, so that it cannot be regenerated. */
export class StateUnavailableError extends Error {
  constructor(blockRoot: RootHex, missingRoot: RootHex) {
    super(`The state after block ${blockRoot} is not in this node's history: block ${missingRoot} is not held.`);
    this.name = "StateUnavailableError";
  }
}

/**
 * Any state of the chain. Recent ones are held, some are stored at intervals, final or not, and every other one is
 * regenerated from the nearest of these by replaying blocks. Whoever asks for a state that is being regenerated
 * shares that regeneration.
 */
export class StateStore {
  readonly #db: BeaconDb;
  readonly #blocks: BlockStore;
  readonly #forkChoice: ForkChoice;
  readonly #snapshots: SnapshotStore;
  readonly #blockStates: LruMap<RootHex, State>;
  readonly #advancedStates: LruMap<string, State>;
  readonly #historicalStates: LruMap<string, State>;
  readonly #underway = new Map<string, Promise<State>>();
  /**
   * Replays from one state run one at a time, so that each can begin where the one before ended. Those of history run all
   * one at a time, so that many questions cannot exhaust the memory.
   */
  readonly #replays = new SerialQueues();

  constructor(parts: {
    db: BeaconDb;
    blocks: BlockStore;
    forkChoice: ForkChoice;
    snapshots: SnapshotStore;
    limits?: StateStoreLimits;
  }) {
    const limits = parts.limits ?? DEFAULT_STATE_LIMITS;
    this.#db = parts.db;
    this.#blocks = parts.blocks;
    this.#forkChoice = parts.forkChoice;
    this.#snapshots = parts.snapshots;
    this.#blockStates = new LruMap(limits.blockStates);
    this.#advancedStates = new LruMap(limits.advancedStates);
    this.#historicalStates = new LruMap(limits.historicalStates);
  }

  /** Holds the post-state of a block that was just imported. */
  hold(blockRoot: RootHex, state: State): void {
    this.#blockStates.set(blockRoot, state);
  }

  /** Holds a state that was advanced past its block. */
  holdAdvanced(blockRoot: RootHex, state: State): void {
    this.#advancedStates.set(keyOf(blockRoot, state.slot), state);
  }

  /** Whether the state after that block, advanced to the slot, can be had without replaying blocks. */
  isAtHand(blockRoot: RootHex, slot: Slot): boolean {
    return this.#blockStates.get(blockRoot) !== undefined || this.#heldAt(blockRoot, slot) !== undefined;
  }

  /** The state after that block, advanced to the slot when one is given, if it is at hand. */
  held(blockRoot: RootHex, givenSlot?: Slot): State | undefined {
    const slot = givenSlot ?? this.#anchorSlot(blockRoot) ?? this.#forkChoice.get(blockRoot)?.slot;
    const postState = this.#blockStates.get(blockRoot);
    if (postState && (slot === undefined || slot <= postState.slot)) return postState;
    return slot === undefined ? undefined : this.#heldAt(blockRoot, slot);
  }

  /** Whether the state after that block, advanced to the slot, takes one epoch transition at the most. */
  isNear(blockRoot: RootHex, slot: Slot): boolean {
    if (this.held(blockRoot, slot)) return true;
    const postState = this.held(blockRoot);
    return postState !== undefined && computeEpochAtSlot(slot) <= computeEpochAtSlot(postState.slot) + 1;
  }

  /**
   * The state after that block, advanced to the slot when one is given. Rejects with a `StateUnavailableError` for a state
   * that lies before the history of this node. One that is needed but once is not kept, so that it displaces no other.
   */
  async afterBlock(blockRoot: RootHex, givenSlot?: Slot, { keep = true } = {}): Promise<State> {
    const held = this.held(blockRoot, givenSlot);
    if (held) return held;
    const slot = givenSlot ?? this.#anchorSlot(blockRoot) ?? (await this.#link(blockRoot))?.slot;
    if (slot === undefined) throw new StateUnavailableError(blockRoot, blockRoot);
    // Of a block that fork choice does not know the slot was not known before.
    const historical = this.#heldAt(blockRoot, slot);
    if (historical) return historical;
    return this.#share(keyOf(blockRoot, slot), async () => {
      const base = this.#blockStates.get(blockRoot) ?? (await this.#regenerate(blockRoot, slot));
      const state = await advanceToSlot(base, slot);
      if (keep) this.#keep(blockRoot, state);
      return state;
    });
  }

  /**
   * The checkpoint's block, advanced through empty slots to the first slot of the checkpoint's epoch. A chain may have been
   * started from a state in the middle of an epoch, which then stands for its whole epoch.
   */
  atCheckpoint({ epoch, root }: Checkpoint): Promise<State> {
    const anchorSlot = this.#anchorSlot(root);
    const isAnchors = anchorSlot !== undefined && computeEpochAtSlot(anchorSlot) === epoch;
    return this.afterBlock(root, isAnchors ? anchorSlot : computeStartSlotAtEpoch(epoch));
  }

  /** The state of the canonical chain at exactly that slot; null where the node's history does not reach. */
  async canonicalAtSlot(slot: Slot): Promise<State | null> {
    const root = await this.#blocks.rootAtOrBefore(slot);
    return root === null ? null : this.afterBlock(root, slot);
  }

  /** Null on a chain that was started from a later state. */
  genesis(): Promise<State | null> {
    return this.canonicalAtSlot(GENESIS_SLOT);
  }

  /** The state with that hash tree root, canonical or not. */
  async byRoot(stateRoot: RootHex): Promise<State | null> {
    const indexed = await this.#db.stateIndex.get(stateRoot);
    if (indexed) return this.afterBlock(indexed.blockRoot, indexed.slot);
    // States advanced past the newest block are in no index, because no later block has confirmed their slots as empty.
    for (const state of this.#advancedStates.values()) {
      if (toRootHex(state.hashTreeRoot()) === stateRoot) return state;
    }
    return null;
  }

  /** Where the anchor state lies if it is that block's: no earlier state after the block can be had. */
  #anchorSlot(blockRoot: RootHex): Slot | undefined {
    const { oldest } = this.#snapshots;
    return oldest.blockRoot === blockRoot ? oldest.slot : undefined;
  }

  async #share(key: string, regenerate: () => Promise<State>): Promise<State> {
    const underway = this.#underway.get(key);
    if (underway) return underway;
    const promise = regenerate().finally(() => this.#underway.delete(key));
    this.#underway.set(key, promise);
    return promise;
  }

  #heldAt(blockRoot: RootHex, slot: Slot): State | undefined {
    const key = keyOf(blockRoot, slot);
    return this.#advancedStates.get(key) ?? this.#historicalStates.get(key);
  }

  #keep(blockRoot: RootHex, state: State): void {
    if (!this.#isRecent(blockRoot)) this.#historicalStates.set(keyOf(blockRoot, state.slot), state);
    else if (state.slot === state.latestBlockHeader.slot) this.#blockStates.set(blockRoot, state);
    else this.holdAdvanced(blockRoot, state);
  }

  #isRecent(blockRoot: RootHex): boolean {
    const block = this.#forkChoice.get(blockRoot);
    return block !== undefined && block.slot + RECENT_SLOTS >= this.#forkChoice.head.slot;
  }

  /** A state after that block, at the block's slot or later, but not later than `slot`. */
  #regenerate(blockRoot: RootHex, slot: Slot): Promise<State> {
    return this.#replays.run(this.#beginningOf(blockRoot), async () => {
      const { base, roots } = await this.#nearest(blockRoot, slot);
      return replayBlocks(base, this.#load(roots));
    });
  }

  /** What replays that may have blocks in common have in common. */
  #beginningOf(blockRoot: RootHex): RootHex | typeof HISTORY {
    if (!this.#isRecent(blockRoot)) return HISTORY;
    for (const { root } of this.#forkChoice.ancestors(blockRoot)) {
      if (this.#blockStates.get(root) || this.#snapshots.has(root)) return root;
    }
    return HISTORY;
  }

  /** The state to begin with, and the blocks from there to the one wanted; of long chains only their roots fit into memory. */
  async #nearest(blockRoot: RootHex, slot: Slot): Promise<{ base: State; roots: RootHex[] }> {
    const roots: RootHex[] = [];
    let root = blockRoot;
    let latestSlot = slot;
    for (;;) {
      const link = await this.#link(root);
      const held = this.#blockStates.get(root) ?? (link && this.#heldAt(root, link.slot));
      const base = held ?? (await this.#snapshots.load(root, latestSlot));
      if (base) return { base, roots: roots.reverse() };
      if (!link) {
        // The way here may have been led astray by a block that is not what it was.
        for (const passed of roots) await this.#blocks.signedByRoot(passed);
        throw new StateUnavailableError(blockRoot, root);
      }
      roots.push(root);
      root = link.parentRoot;
      latestSlot = link.slot;
    }
  }

  async #link(root: RootHex): Promise<{ slot: Slot; parentRoot: RootHex } | null> {
    return this.#forkChoice.get(root) ?? this.#blocks.link(root);
  }

  async *#load(roots: readonly RootHex[]): AsyncGenerator<SignedBeaconBlock> {
    for (const root of roots) {
      const block = await this.#blocks.signedByRoot(root);
      if (!block) throw new StateUnavailableError(root, root);
      yield block;
    }
  }
}

const keyOf = (blockRoot: RootHex, slot: Slot) => `${blockRoot}:${slot}`;
