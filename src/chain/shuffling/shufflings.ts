import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateAllForks, computeEpochAtSlot, type EpochShuffling } from "@lodestar/state-transition";
import type { Epoch, RootHex } from "@lodestar/types";
import { LruMap } from "../../collections/lru-map.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { shufflingDependentSlot } from "../fork-choice/head/proposer-boost.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { RegenerationQueue } from "../states/regeneration-queue.ts";
import type { StateStore } from "../states/state-store.ts";

/** Enough for three epochs on a few branches. */
const HELD_SHUFFLINGS = 16;

interface ShufflingsParts {
  forkChoice: Pick<ForkChoice, "get" | "head" | "finalized" | "ancestorAtSlot">;
  states: Pick<StateStore, "cached" | "afterBlock" | "atCheckpoint">;
  regenerations: Pick<RegenerationQueue, "run">;
}

/**
 * Shufflings by epoch and dependent block. The last block before the previous epoch determines a shuffling, so branches
 * containing that block share the shuffling, and no state needs to be regenerated.
 */
export class Shufflings {
  readonly #parts: ShufflingsParts;
  readonly #cached = new LruMap<string, EpochShuffling>(HELD_SHUFFLINGS);
  readonly #underway = new Map<string, Promise<EpochShuffling>>();

  constructor(parts: ShufflingsParts) {
    this.#parts = parts;
  }

  /** Returns the shuffling of an epoch on the chain of a block. The epoch must not precede the block's epoch. */
  async of(blockRoot: RootHex, epoch: Epoch): Promise<EpochShuffling> {
    const { forkChoice } = this.#parts;
    const key = this.#key(blockRoot, epoch);
    const cached = this.#cached.get(key) ?? this.#hold(key, epoch, this.#parts.states.cached(blockRoot));
    if (cached) return cached;
    const { head } = forkChoice;
    if (this.#key(head.root, epoch) === key) {
      const ofHead = this.#hold(key, epoch, this.#parts.states.cached(head.root));
      if (ofHead) return ofHead;
    }
    const regeneration = this.#underway.get(key) ?? this.#regenerate(key, blockRoot, epoch);
    this.#underway.set(key, regeneration);
    return regeneration;
  }

  /**
   * Returns the cache key. If the dependent block is older than all blocks in fork choice, it is an ancestor of the
   * finalized block and thus the same for all blocks.
   */
  #key(blockRoot: RootHex, epoch: Epoch): string {
    const { forkChoice } = this.#parts;
    const decidingSlot = shufflingDependentSlot(epoch, SLOTS_PER_EPOCH);
    const deciding = forkChoice.ancestorAtSlot(blockRoot, decidingSlot);
    return `${epoch}:${deciding ?? `before ${forkChoice.finalized.root}`}`;
  }

  #hold(key: string, epoch: Epoch, state: CachedBeaconStateAllForks | undefined): EpochShuffling | undefined {
    const shuffling = state?.epochCtx.getShufflingAtEpochOrNull(epoch) ?? undefined;
    if (shuffling) this.#cached.set(key, shuffling);
    return shuffling;
  }

  async #regenerate(key: string, blockRoot: RootHex, epoch: Epoch): Promise<EpochShuffling> {
    try {
      const block = this.#parts.forkChoice.get(blockRoot);
      if (!block) throw new Error(`Unknown block ${blockRoot}: cannot compute the shuffling of epoch ${epoch}.`);
      const state = await this.#parts.regenerations.run("vote", () => this.#stateFor(block, epoch));
      const shuffling = this.#hold(key, epoch, state);
      if (!shuffling) throw new Error(`The state of slot ${state.slot} has no shuffling of epoch ${epoch}.`);
      return shuffling;
    } finally {
      this.#underway.delete(key);
    }
  }

  /** Returns a state that contains the shuffling. A state also contains the shuffling of the next epoch. */
  #stateFor({ root, slot }: ForkChoiceBlock, epoch: Epoch): Promise<CachedBeaconStateAllForks> {
    const { states } = this.#parts;
    if (computeEpochAtSlot(slot) + 1 >= epoch) return states.afterBlock(root, undefined, { keep: false });
    return states.atCheckpoint({ epoch, root });
  }
}
