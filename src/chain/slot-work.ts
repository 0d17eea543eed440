import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { type ExecutionEngine, isReachable } from "../execution/engine.ts";
import type { Clock } from "./clock/clock.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { WiredParts } from "./wiring.ts";

interface SlotWorkParts
  extends Pick<
    WiredParts,
    | "changes"
    | "confirmation"
    | "pools"
    | "subscriptions"
    | "syncSubscriptions"
    | "executionBids"
    | "status"
    | "importQueue"
    | "payloadQueue"
    | "dataMaintenance"
    | "engineNotifier"
    | "payloadPreparer"
    | "epochPreparer"
    | "validatorCustody"
    | "builderComponents"
  > {
  clock: Clock;
  engine: ExecutionEngine;
  forkChoice: ForkChoice;
  refreshHead(): Promise<void>;
}

/** Follows the clock and the execution engine: the work of a chain at the start of each slot. */
export class SlotWork {
  readonly #parts: SlotWorkParts;

  constructor(parts: SlotWorkParts) {
    this.#parts = parts;
  }

  /** Starts following. Returns a function that stops. */
  start(): () => void {
    const { clock, engine, status, payloadPreparer, epochPreparer, validatorCustody, builderComponents } = this.#parts;
    const ends = [
      status.follow(),
      clock.onSlot((slot) => this.#onSlot(slot)),
      engine.onStateChange((state) => {
        if (!isReachable(state)) return;
        this.#retryWaiting();
        payloadPreparer.resume();
      }),
      ...[payloadPreparer, epochPreparer, validatorCustody, ...(builderComponents?.followers ?? [])].map((follower) =>
        follower.start(),
      ),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  async #onSlot(slot: Slot): Promise<void> {
    const { forkChoice, pools, subscriptions, syncSubscriptions, executionBids, ...parts } = this.#parts;
    forkChoice.onClockSetBack(slot);
    forkChoice.onTick(slot);
    pools.pruneBySlot(slot);
    subscriptions.prune(slot);
    syncSubscriptions.prune(computeEpochAtSlot(slot));
    parts.dataMaintenance.onSlot(slot);
    parts.payloadQueue.onSlot(slot);
    executionBids.onSlot(slot);
    this.#retryWaiting();
    await parts.refreshHead();
    await parts.changes.run(() => parts.confirmation.onSlot());
    parts.engineNotifier.onSlot();
  }

  /** Retries blocks and payloads that are waiting for the execution engine. */
  #retryWaiting(): void {
    void this.#parts.importQueue.retryWaiting();
    void this.#parts.payloadQueue.retryWaiting();
  }
}
