import { GENESIS_SLOT } from "@lodestar/params";
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
import { SerialQueue } from "../serial-queue.ts";
import { advanceToSlot, replayBlocks } from "./advance.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

type State = CachedBeaconStateAllForks;

export interface StateStoreLimits {
  /** Post-states of recent blocks. */
  blockStates: number;
  /** Block states advanced to a slot: checkpoints, and pre-states of blocks about to come. */
  advancedStates: number;
  /** States of finalized history that somebody asked for. */
  historicalStates: number;
}

const DEFAULT_STATE_LIMITS: StateStoreLimits = { blockStates: 64, advancedStates: 16, historicalStates: 4 };

/** A state lies before the history of this node, so that it cannot be regenerated. */
export class StateUnavailableError extends Error {
  constructor(blockRoot: RootHex, missingRoot: RootHex) {
    super(`The state after block ${blockRoot} is not in this node's history: block ${missingRoot} is not held.`);
    this.name = "StateUnavailableError";
  }
}

/**
 * Any state of the chain. Recent ones are held, finalized ones are stored at an interval, and every other one is
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
  /** Long replays of finalized history run one at a time, so that many questions cannot exhaust the memory. */
  readonly #historicalReplays = new SerialQueue();

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
    this.#advancedStates.set(`${blockRoot}:${state.slot}`, state);
  }

  /** The state after that block, advanced to the slot when one is given, if it is at hand. */
  held(blockRoot: RootHex, givenSlot?: Slot): State | undefined {
    const slot = givenSlot ?? this.#anchorSlot(blockRoot);
    const postState = this.#blockStates.get(blockRoot);
    if (postState && (slot === undefined || slot <= postState.slot)) return postState;
    const key = stateKey(blockRoot, slot);
    return this.#advancedStates.get(key) ?? this.#historicalStates.get(key);
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
    const slot = givenSlot ?? this.#anchorSlot(blockRoot);
    const key = stateKey(blockRoot, slot);
    return this.#share(key, async () => {
      const isHot = this.#forkChoice.has(blockRoot);
      const base = this.#blockStates.get(blockRoot) ?? (await this.#regenerate(blockRoot, slot, isHot));
      const state = slot === undefined ? base : await advanceToSlot(base, slot);
      if (!keep) return state;
      if (!isHot) this.#historicalStates.set(key, state);
      else if (slot === undefined) this.#blockStates.set(blockRoot, state);
      else this.#advancedStates.set(key, state);
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

  /** A state after that block, at the block's slot or later, but not later than `slot`. */
  #regenerate(blockRoot: RootHex, slot: Slot | undefined, isHot: boolean): Promise<State> {
    const replay = () => this.#replayFromNearest(blockRoot, slot);
    return isHot ? replay() : this.#historicalReplays.run(replay);
  }

  async #replayFromNearest(blockRoot: RootHex, slot: Slot | undefined): Promise<State> {
    const toReplay: SignedBeaconBlock[] = [];
    let root = blockRoot;
    let latestSlot = slot;
    for (;;) {
      const block = await this.#blocks.signedByRoot(root);
      latestSlot ??= block?.message.slot;
      const base = this.#blockStates.get(root) ?? (await this.#snapshots.load(root, latestSlot));
      if (base) return replayBlocks(base, toReplay.reverse());
      if (!block) {
        throw new StateUnavailableError(blockRoot, root);
      }
      toReplay.push(block);
      root = toRootHex(block.message.parentRoot);
      latestSlot = block.message.slot;
    }
  }
}

const stateKey = (blockRoot: RootHex, slot: Slot | undefined): string => `${blockRoot}:${slot ?? "post"}`;
