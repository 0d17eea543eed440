import type { Logger } from "../../../log/logger.ts";
import type { UpstreamHealth } from "../upstream-health.ts";

export type Checkpoint = NonNullable<UpstreamHealth["finalized"]>;

/**
 * Tracks the latest finalized checkpoint of each upstream, and counts reverts behind finality, which occur only on dev
 * chains.
 */
export class FinalityTracker {
  readonly #logger: Logger;
  readonly #latest = new Map<string, Checkpoint>();
  #finalityReverts = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get finalityReverts(): number {
    return this.#finalityReverts;
  }

  latest(upstream: string): Checkpoint | undefined {
    return this.#latest.get(upstream);
  }

  record({ upstream, finalized }: UpstreamHealth): void {
    if (finalized && finalized.epoch > (this.#latest.get(upstream)?.epoch ?? -1)) this.#latest.set(upstream, finalized);
  }

  /**
   * Records that an upstream has left its finalized checkpoint. Counts as a revert of the chain unless another usable
   * upstream still has it.
   */
  recordRevert(upstream: string, all: readonly UpstreamHealth[]): void {
    const reverted = this.#latest.get(upstream);
    if (reverted === undefined) return;
    this.#latest.delete(upstream);
    const holders = all.filter(({ state }) => state === "ready" || state === "behind");
    if (holders.some((holder) => (this.#latest.get(holder.upstream)?.epoch ?? -1) >= reverted.epoch)) return;
    this.#finalityReverts++;
    this.#logger.warn("Chain reverted behind finality, dropping cached answers", {
      upstream,
      epoch: reverted.epoch,
    });
  }
}
