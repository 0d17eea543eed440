import { SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";

interface SyncSubscription {
  subnet: number;
  /** The first epoch in which nobody needs the subnet any more. */
  untilEpoch: Epoch;
}

/** The sync committee subnets that clients of this node take part in. The network reads them. */
export class SyncSubscriptions {
  #untilEpochs = new Map<number, Epoch>();
  readonly #listeners = new Set<() => void>();

  /** Calls the listener whenever a subscription was added. Returns the function that ends it. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  capture(): Map<number, Epoch> {
    return new Map(this.#untilEpochs);
  }

  /** Takes them over, instead of all that there are. */
  restore(untilEpochs: Map<number, Epoch>): void {
    this.#untilEpochs = untilEpochs;
  }

  /** `positions` are those of a validator in the whole sync committee. */
  add(positions: readonly number[], untilEpoch: Epoch): void {
    for (const position of positions) {
      const subnet = Math.floor(position / SYNC_COMMITTEE_SUBNET_SIZE);
      this.#untilEpochs.set(subnet, Math.max(untilEpoch, this.#untilEpochs.get(subnet) ?? 0));
    }
    for (const listener of this.#listeners) listener();
  }

  /** By subnet. */
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
