import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { BalanceSource } from "../fork-choice/confirmation/balance-source.ts";
import { type Checkpoint, sameCheckpoint } from "../fork-choice/types.ts";
import type { HeadTracker } from "./head-tracker.ts";
import { balancesOf, type StateBalances } from "./state-balances.ts";

/** Number of checkpoints that the rule compares: those of the previous and of the current epoch. */
const CHECKPOINTS = 2;

/** Balances by which the fast confirmation rule weighs votes. Caches them, because computing them is expensive. */
export class BalanceSources {
  readonly #tracker: Pick<HeadTracker, "balancesAt">;
  /** Newest first. */
  #recent: { checkpoint: Checkpoint; source: BalanceSource }[] = [];
  #ofHead: { epoch: number; validators: unknown; source: BalanceSource } | undefined;

  constructor(tracker: Pick<HeadTracker, "balancesAt">) {
    this.#tracker = tracker;
  }

  async at(checkpoint: Checkpoint): Promise<BalanceSource> {
    const cached = this.#recent.find((each) => sameCheckpoint(each.checkpoint, checkpoint));
    if (cached !== undefined) return cached.source;
    const source = sourceOf(await this.#tracker.balancesAt(checkpoint));
    this.#recent = [{ checkpoint, source }, ...this.#recent].slice(0, CHECKPOINTS);
    return source;
  }

  /** Balances of the head's state. They stay the same within an epoch while no validator changes. */
  ofHead(state: CachedBeaconStateAllForks): BalanceSource {
    const { epochCtx } = state;
    const validators = state.validators.node;
    const cached = this.#ofHead;
    if (cached?.epoch === epochCtx.epoch && cached.validators === validators) return cached.source;
    const source = sourceOf(balancesOf(state));
    this.#ofHead = { epoch: epochCtx.epoch, validators, source };
    return source;
  }
}

function sourceOf({ balances, totalActive, effectiveBalances, activeIndices }: StateBalances): BalanceSource {
  // Asked for only after equivocations.
  let active: Set<number> | undefined;
  const isActive = (validator: number): boolean => {
    active ??= new Set(activeIndices);
    return active.has(validator);
  };
  return { balances, totalActive, effectiveBalances, isActive };
}
