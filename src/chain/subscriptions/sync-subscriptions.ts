import { SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";

interface SyncSubscription {
  subnet: number;
  /** First epoch after the end of the subscription. */
  untilEpoch: Epoch;
}

/** Sync committee subnet subscriptions from validator clients. Read by the network. */
export class SyncSubscriptions {
  #untilEpochs = new Map<number, Epoch>();
  readonly #listeners = new Set<() => void>();

  /** Calls the listener when a subscription is added. Returns an unsubscribe function. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  capture(): Map<number, Epoch> {
    return new Map(this.#untilEpochs);
  }

  /** Replaces all subscriptions. */
  restore(untilEpochs: Map<number, Epoch>): void {
    this.#untilEpochs = untilEpochs;
  }

  /** `positions` are a validator's positions in the sync committee. */
  add(positions: readonly number[], untilEpoch: Epoch): void {
    for (const position of positions) {
      const subnet = Math.floor(position / SYNC_COMMITTEE_SUBNET_SIZE);
      this.#untilEpochs.set(subnet, Math.max(untilEpoch, this.#untilEpochs.get(subnet) ?? 0));
    }
    for (const listener of this.#listeners) listener();
  }

  /** Sorted by subnet. */
  list(): SyncSubscription[] {
    return Array.from(this.#untilEpochs, ([subnet, untilEpoch]) => ({ subnet, untilEpoch })).sort(
      (a, b) => a.subnet - b.subnet,
    );
  }

  prune(currentEpoch: Epoch): void {
    for (const [subnet, untilEpoch] of this.#untilEpochs) {
      if (untilEpoch <= currentEpoch) this.#untilEpochs.delete(subnet);
    }
  }
}
