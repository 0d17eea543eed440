import { GENESIS_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { SyncStatus } from "../head/sync-status.ts";
import type { BuilderSettings } from "./builder-settings.ts";

interface CircuitBreakerParts {
  clock: Clock;
  forkChoice: Pick<ForkChoice, "get" | "head">;
  status: Pick<SyncStatus, "isSyncing">;
  settings: Pick<BuilderSettings, "fallbackSkips" | "fallbackSkipsPerEpoch">;
  logger: Logger;
}

/**
 * Disables builders while the chain is unhealthy (builder-specs, bellatrix/validator.md, "Liveness failsafe"). Many
 * missed slots may mean that builders withhold payloads; proposers then build locally.
 */
export class CircuitBreaker {
  readonly #parts: CircuitBreakerParts;
  #wasOpen = false;

  constructor(parts: CircuitBreakerParts) {
    this.#parts = parts;
  }

  /** Starts logging when the breaker opens and closes. Returns a stop function. */
  start(): () => void {
    return this.#parts.clock.onSlot((slot) => this.#logChange(slot));
  }

  /** Returns true if a block on this parent must be built locally. */
  isOpen(parentRoot: RootHex, slot: Slot): boolean {
    const { forkChoice, settings } = this.#parts;
    const missed = missedSlots(forkChoice, parentRoot, slot);
    return missed.inARow >= settings.fallbackSkips || missed.inAnEpoch >= settings.fallbackSkipsPerEpoch;
  }

  #logChange(slot: Slot): void {
    const { forkChoice, status, logger } = this.#parts;
    // A syncing node lacks blocks that other nodes have.
    if (status.isSyncing) return;
    const { root } = forkChoice.head;
    const isOpen = this.isOpen(root, slot);
    if (isOpen === this.#wasOpen) return;
    this.#wasOpen = isOpen;
    const missed = missedSlots(forkChoice, root, slot);
    if (isOpen) logger.warn("Too many missed slots, builder disabled", missed);
    else logger.notice("Missed slots recovered, builder enabled", missed);
  }
}

/** Counts missed slots before the given slot on the parent's chain. */
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
    // Slots before the anchor are unknown.
    if (parent === undefined) first = block.slot;
    block = parent;
  }
  return { inARow: slot - 1 - newest.slot, inAnEpoch: slot - first - blocks };
}
