import { GENESIS_SLOT, SLOTS_PER_EPOCH, SLOTS_PER_HISTORICAL_ROOT } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { SingleFlight } from "../../async/single-flight.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { BlockLink, BlockStore } from "../blocks/block-store.ts";
import type { DistantGenesis } from "../distant-genesis.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { Checkpoint } from "../fork-choice/types.ts";
import { LruMap } from "../lru-map.ts";
import { SerialQueues } from "../serial-queue.ts";
import { advanceToSlot, replayBlock } from "./advance.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

type State = CachedBeaconStateAllForks;

export interface StateStoreLimits {
  /** Post-states of recent blocks. */
  blockStates: number;
  /** Block states advanced to a slot: checkpoints, and pre-states of blocks about to come. */
  advancedStates: number;
  /** States far behind the head that somebody asked for. */
  historicalStates: number;
  /** States that the latest replay of history went through last, two a block: without it and with it. */
  replayedStates: number;
}

const DEFAULT_STATE_LIMITS: StateStoreLimits = {
  blockStates: 64,
  advancedStates: 16,
  historicalStates: 4,
  replayedStates: 64,
};

/** A state of history shares little with others, so that with more validators than these fewer are held. */
const MANY_VALIDATORS = 250_000;
const LEAST_HISTORICAL_STATES = 1;
const LEAST_REPLAYED_STATES = 16;

/** How many states a chain holds on which there are so many validators. */
export function stateLimitsFor(validators: number): StateStoreLimits {
  const { historicalStates, replayedStates, ...recent } = DEFAULT_STATE_LIMITS;
  const share = Math.min(1, MANY_VALIDATORS / validators);
  return {
    ...recent,
    historicalStates: Math.max(LEAST_HISTORICAL_STATES, Math.floor(historicalStates * share)),
    replayedStates: Math.max(LEAST_REPLAYED_STATES, Math.floor(replayedStates * share)),
  };
}

/** What lies farther behind the head counts as history, final or not. */
const RECENT_SLOTS = 16 * SLOTS_PER_EPOCH;
const HISTORY = "history";

/** The root of a state of the canonical chain, and of the newest block that the state has seen. */
export interface KnownStateRoot {
  stateRoot: RootHex;
  /** The last one that the state has processed. */
  block: { root: RootHex; slot: Slot };
}

/** States that are at hand at a moment. */
export interface StatesMoment {
  blockStates: [blockRoot: RootHex, State][];
  advancedStates: [key: string, State][];
}

/** How a state is asked for. */
export interface StateRequest {
  /** Whether it is kept for those who ask later; by default it is. */
  keep?: boolean;
  /** Who waits for it: once its signal is aborted, nobody. Left out by those who wait whatever happens. */
  waiting?: { readonly signal?: AbortSignal | undefined } | undefined;
}

/** A state lies before the history of this node, so that it cannot be regenerated. */
export class StateUnavailableError extends Error {
  /** The reason is the rest of a sentence. */
  constructor(blockRoot: RootHex, reason: string) {
    super(`The state after block ${blockRoot} is not in this node's history: ${reason}.`);
    this.name = "StateUnavailableError";
  }
}

/**
 * Any state of the chain. Recent ones are held, some are stored at intervals, final or not, and every other one is
 * regenerated from the nearest of these by replaying blocks. Whoever asks for a state that is being regenerated
 * shares that regeneration, and whoever goes through history slot by slot, up or down, finds the next state among those of
 * the latest replay.
 */
export class StateStore {
  readonly #db: BeaconDb;
  readonly #blocks: BlockStore;
  readonly #forkChoice: ForkChoice;
  readonly #snapshots: SnapshotStore;
  readonly #genesis: DistantGenesis | undefined;
  readonly #blockStates: LruMap<RootHex, State>;
  readonly #advancedStates: LruMap<string, State>;
  readonly #historicalStates: LruMap<string, State>;
  readonly #replayedStatesLimit: number;
  /** Of one stretch of history, so that they share most of their trees and many take little more room than one. */
  #replayedStates: LruMap<string, State>;
  readonly #underway = new SingleFlight<string, State>();
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
    /** Of a chain that was started from a later state. */
    genesis: DistantGenesis | undefined;
    limits?: StateStoreLimits;
  }) {
    const limits = parts.limits ?? DEFAULT_STATE_LIMITS;
    this.#db = parts.db;
    this.#blocks = parts.blocks;
    this.#forkChoice = parts.forkChoice;
    this.#snapshots = parts.snapshots;
    this.#genesis = parts.genesis;
    this.#blockStates = new LruMap(limits.blockStates);
    this.#advancedStates = new LruMap(limits.advancedStates);
    this.#historicalStates = new LruMap(limits.historicalStates);
    this.#replayedStatesLimit = limits.replayedStates;
    this.#replayedStates = new LruMap(limits.replayedStates);
  }

  /** Of the states at hand those that were made of these blocks. */
  capture(blockRoots: ReadonlySet<RootHex>): StatesMoment {
    return {
      blockStates: [...this.#blockStates.entries()].filter(([root]) => blockRoots.has(root)),
      advancedStates: [...this.#advancedStates.entries()].filter(([key]) => blockRoots.has(blockRootOf(key))),
    };
  }

  /** Holds these states instead of all that are at hand, and gives none of those that are being made to who asks later. */
  restore({ blockStates, advancedStates }: StatesMoment): void {
    for (const states of [this.#blockStates, this.#advancedStates, this.#historicalStates]) states.clear();
    this.#replayedStates = new LruMap(this.#replayedStatesLimit);
    this.#underway.clear();
    for (const [root, state] of blockStates) this.#blockStates.set(root, state);
    for (const [key, state] of advancedStates) this.#advancedStates.set(key, state);
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
  async afterBlock(blockRoot: RootHex, givenSlot?: Slot, { keep = true, waiting }: StateRequest = {}): Promise<State> {
    const held = this.held(blockRoot, givenSlot);
    if (held) return held;
    const slot = givenSlot ?? this.#anchorSlot(blockRoot) ?? (await this.#link(blockRoot))?.slot;
    if (slot === undefined) throw new StateUnavailableError(blockRoot, notHeld(blockRoot));
    // Of a block that fork choice does not know the slot was not known before.
    const historical = this.#heldAt(blockRoot, slot);
    if (historical) return historical;
    return this.#underway.run(keyOf(blockRoot, slot), waiting?.signal, async (throwIfAborted) => {
      const base = this.#latestHeld(blockRoot, slot) ?? (await this.#regenerate(blockRoot, slot, throwIfAborted));
      const state = await advanceToSlot(base, slot, { keepsCaches: !keep });
      if (keep) this.#keep(blockRoot, state);
      return state;
    });
  }

  /**
   * The checkpoint's block, advanced through empty slots to the first slot of the checkpoint's epoch. A chain may have been
   * started from a state in the middle of an epoch, which then stands for its whole epoch.
   */
  atCheckpoint({ epoch, root }: Checkpoint, request?: StateRequest): Promise<State> {
    const anchorSlot = this.#anchorSlot(root);
    const isAnchors = anchorSlot !== undefined && computeEpochAtSlot(anchorSlot) === epoch;
    return this.afterBlock(root, isAnchors ? anchorSlot : computeStartSlotAtEpoch(epoch), request);
  }

  /** The state of the canonical chain at exactly that slot; null where the node's history does not reach. */
  async canonicalAtSlot(slot: Slot, request?: StateRequest): Promise<State | null> {
    const root = await this.#blocks.rootAtOrBefore(slot);
    return root === null ? null : this.afterBlock(root, slot, request);
  }

  /**
   * The root of the canonical state at exactly that slot, where it is known without the state: by the slot's block, or by the head
   * state, which remembers those of the slots before it. Null for any other.
   */
  async knownRootAtSlot(slot: Slot): Promise<KnownStateRoot | null> {
    if (slot < this.#snapshots.oldest.slot) return null;
    const blockRoot = await this.#blocks.rootAtOrBefore(slot);
    const found = blockRoot === null ? null : await this.#slotAndStateRoot(blockRoot);
    if (blockRoot === null || found === null) return null;
    const block = { root: blockRoot, slot: found.slot };
    if (found.slot === slot) return { stateRoot: found.stateRoot, block };
    const head = this.held(this.#forkChoice.head.root);
    if (head === undefined || slot >= head.slot || slot + SLOTS_PER_HISTORICAL_ROOT < head.slot) return null;
    return { stateRoot: toRootHex(head.stateRoots.get(slot % SLOTS_PER_HISTORICAL_ROOT)), block };
  }

  /** Null on a chain that was started from a later state, when the genesis state is not at hand. */
  genesis(): Promise<State | null> {
    return this.canonicalAtSlot(GENESIS_SLOT);
  }

  /** The state with that hash tree root, canonical or not. */
  async byRoot(stateRoot: RootHex, request?: StateRequest): Promise<State | null> {
    const indexed = await this.#db.stateIndex.get(stateRoot);
    if (indexed) return this.afterBlock(indexed.blockRoot, indexed.slot, request);
    // States advanced past the newest block are in no index, because no later block has confirmed their slots as empty.
    for (const state of this.#advancedStates.values()) {
      if (toRootHex(state.hashTreeRoot()) === stateRoot) return state;
    }
    const genesis = await this.#genesis?.facts();
    return genesis?.stateRoot === stateRoot ? this.afterBlock(genesis.root, GENESIS_SLOT) : null;
  }

  /** Where the anchor state lies if it is that block's: no earlier state after the block can be had. */
  #anchorSlot(blockRoot: RootHex): Slot | undefined {
    const { oldest } = this.#snapshots;
    return oldest.blockRoot === blockRoot ? oldest.slot : undefined;
  }

  #heldAt(blockRoot: RootHex, slot: Slot): State | undefined {
    const key = keyOf(blockRoot, slot);
    return this.#advancedStates.get(key) ?? this.#historicalStates.get(key) ?? this.#replayedStates.get(key);
  }

  /** Of the states after that block that are at hand, the latest that was not advanced past the slot. */
  #latestHeld(blockRoot: RootHex, slot: Slot): State | undefined {
    let latest = this.#blockStates.get(blockRoot);
    for (const states of [this.#advancedStates, this.#historicalStates, this.#replayedStates]) {
      for (const [key, state] of states.entries()) {
        if (state.slot <= slot && state.slot > (latest?.slot ?? -1) && key.startsWith(blockRoot)) latest = state;
      }
    }
    return latest;
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
  #regenerate(blockRoot: RootHex, slot: Slot, throwIfAborted: () => void): Promise<State> {
    const beginning = this.#beginningOf(blockRoot);
    return this.#replays.run(beginning, async () => {
      throwIfAborted();
      const nearest = await this.#nearest(blockRoot, slot);
      return beginning === HISTORY
        ? this.#replayHistory(nearest, throwIfAborted)
        : this.#replay(nearest, throwIfAborted);
    });
  }

  /** Also holds the states that it goes through, instead of those of another stretch. */
  #replayHistory(nearest: ReplayBeginning, throwIfAborted: () => void): Promise<State> {
    if (![...this.#replayedStates.values()].includes(nearest.base)) {
      this.#replayedStates = new LruMap(this.#replayedStatesLimit);
    }
    return this.#replay(nearest, throwIfAborted, (blockRoot, state) =>
      this.#replayedStates.set(keyOf(blockRoot, state.slot), state),
    );
  }

  async #replay(
    { base, baseRoot, roots }: ReplayBeginning,
    throwIfAborted: () => void,
    hold: (blockRoot: RootHex, state: State) => void = () => {},
  ): Promise<State> {
    let state = base;
    let latestRoot = baseRoot;
    for (const root of roots) {
      throwIfAborted();
      const block = await this.#blocks.signedByRoot(root);
      if (!block) throw new StateUnavailableError(root, notHeld(root));
      const { before, after } = await replayBlock(state, block);
      hold(latestRoot, before);
      hold(root, after);
      state = after;
      latestRoot = root;
    }
    return state;
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
  async #nearest(blockRoot: RootHex, slot: Slot): Promise<ReplayBeginning> {
    const roots: RootHex[] = [];
    let root = blockRoot;
    let latestSlot = slot;
    for (;;) {
      const base = this.#latestHeld(root, latestSlot) ?? (await this.#snapshots.load(root, latestSlot));
      if (base) return { base, baseRoot: root, roots: roots.reverse() };
      const link = await this.#link(root);
      const genesis = link?.slot === GENESIS_SLOT ? await this.#genesis?.state() : undefined;
      if (genesis) return { base: genesis, baseRoot: root, roots: roots.reverse() };
      // Blocks from before the first state may be held, of which no state can be made.
      if (!link || link.slot < this.#snapshots.oldest.slot) {
        // The way here may have been led astray by a block that is not what it was.
        for (const passed of roots) await this.#blocks.signedByRoot(passed);
        const { oldest } = this.#snapshots;
        const isEarlier = `it is from before slot ${oldest.slot}, with whose state this node began`;
        throw new StateUnavailableError(blockRoot, link ? isEarlier : notHeld(root));
      }
      roots.push(root);
      root = link.parentRoot;
      latestSlot = link.slot;
    }
  }

  /** The block is read as a whole, since only its hash tells whether it is what it was. */
  async #slotAndStateRoot(root: RootHex): Promise<{ slot: Slot; stateRoot: RootHex } | null> {
    const known = this.#forkChoice.get(root);
    if (known) return known;
    const message = (await this.#blocks.signedByRoot(root))?.message;
    return message ? { slot: message.slot, stateRoot: toRootHex(message.stateRoot) } : null;
  }

  async #link(root: RootHex): Promise<BlockLink | null> {
    return this.#forkChoice.get(root) ?? this.#blocks.link(root);
  }
}

/** The state that a replay begins with, the newest block that it has seen, and the blocks to replay. */
interface ReplayBeginning {
  base: State;
  baseRoot: RootHex;
  roots: RootHex[];
}

const notHeld = (blockRoot: RootHex) => `block ${blockRoot} is not held`;

const blockRootOf = (key: string): RootHex => key.slice(0, key.indexOf(":"));

const keyOf = (blockRoot: RootHex, slot: Slot) => `${blockRoot}:${slot}`;
