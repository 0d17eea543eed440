import { GENESIS_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { SyncStatus } from "../sync-status.ts";

/** With how many slots without a block the chain still counts as healthy. */
export interface MissedSlotLimits {
  inARow: number;
  /** Of the last slots, as many as an epoch has. */
  inAnEpoch: number;
}

interface CircuitBreakerParts {
  clock: Clock;
  forkChoice: Pick<ForkChoice, "get" | "head">;
  status: Pick<SyncStatus, "isSyncing">;
  limits: MissedSlotLimits;
  logger: Logger;
}

/**
 * Keeps builders out while the chain is not healthy ("Liveness failsafe" of builder-specs, bellatrix/validator.md): when too
 * many slots have no block, it may be that builders withhold payloads, and then every block has to be built by its proposer.
 */
export class CircuitBreaker {
  readonly #parts: CircuitBreakerParts;
  #wasOpen = false;

  constructor(parts: CircuitBreakerParts) {
    this.#parts = parts;
  }

  /** Tells the log from now on when builders are kept out and when they are not any more; returns the function that ends it. */
  start(): () => void {
    return this.#parts.clock.onSlot((slot) => this.#tell(slot));
  }

  /** Whether a block of that slot on that parent has to be built without builders. */
  isOpen(parentRoot: RootHex, slot: Slot): boolean {
    const { forkChoice, limits } = this.#parts;
    const missed = missedSlots(forkChoice, parentRoot, slot);
    return missed.inARow >= limits.inARow || missed.inAnEpoch >= limits.inAnEpoch;
  }

  #tell(slot: Slot): void {
    const { forkChoice, status, logger } = this.#parts;
    // What a node that syncs does not have yet is not missed by others.
    if (status.isSyncing) return;
    const { root } = forkChoice.head;
    const isOpen = this.isOpen(root, slot);
    if (isOpen === this.#wasOpen) return;
    this.#wasOpen = isOpen;
    const missed = missedSlots(forkChoice, root, slot);
    if (isOpen) logger.warn("Too many slots have no block, so builders are not asked until that is over", missed);
    else logger.notice("Few enough slots have no block, so builders are asked again", missed);
  }
}

/** Counts the slots before the given one that have no block on the chain of the parent. */
export function missedSlots(
  forkChoice: Pick<ForkChoice, "get">,
  parentRoot: RootHex,
  slot: Slot,
): { inARow: number; inAnEpoch: number } {
  const newest = forkChoice.get(parentRoot);
  if (newest === undefined) return { inARow: 0, inAnEpoch: 0 };
  let first = Math.max(GENESIS_SLOT + 1, slot - SLOTS_PER_EPOCH);
  let blocks = 0;
  for (let block: ForkChoiceBlock | undefined = newest; block && block.slot >= first; ) {
    blocks++;
    const parent = forkChoice.get(block.parentRoot);
    // Nothing is known of the time before the block from which the chain was started.
    if (parent === undefined) first = block.slot;
    block = parent;
  }
  return { inARow: slot - 1 - newest.slot, inAnEpoch: slot - first - blocks };
}
