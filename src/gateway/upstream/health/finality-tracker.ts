import type { Logger } from "../../../log/logger.ts";
import { isUsable, type UpstreamHealth } from "../upstream-health.ts";

export type Checkpoint = NonNullable<UpstreamHealth["finalized"]>;

/**
 * Tracks the latest finalized checkpoint of each upstream, and counts reverts behind finality, which occur only on dev
 * chains.
 */
export class FinalityTracker {
  readonly #logger: Logger;
  readonly #latest = new Map<string, Checkpoint>();
  /** Latest epoch that two upstreams have finalized. A single upstream may make one up. */
  #confirmedEpoch = -1;
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
    const epochs = Array.from(this.#latest.values(), ({ epoch }) => epoch).sort((a, b) => b - a);
    this.#confirmedEpoch = Math.max(this.#confirmedEpoch, epochs[1] ?? -1);
  }

  /**
   * Records that an upstream has reverted its finalized checkpoint. The chain was not reverted if another usable
   * upstream has finalized that epoch, or has an earlier checkpoint and no second upstream had confirmed the epoch.
   */
  recordRevert(upstream: string, all: readonly UpstreamHealth[]): void {
    const reverted = this.#latest.get(upstream);
    if (reverted === undefined) return;
    this.#latest.delete(upstream);
    const others = all.flatMap((each) => (isUsable(each) ? (this.#latest.get(each.upstream) ?? []) : []));
    if (others.some(({ epoch }) => epoch >= reverted.epoch)) return;
    if (others.length > 0 && reverted.epoch > this.#confirmedEpoch) return;
    this.#confirmedEpoch = -1;
    this.#finalityReverts++;
    this.#logger.warn("Chain reverted behind finality, dropping cached answers", {
      upstream,
      epoch: reverted.epoch,
    });
  }
}
