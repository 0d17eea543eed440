import type { Logger } from "../../log/logger.ts";
import type { Condition } from "../condition.ts";

export type Checkpoint = NonNullable<Condition["finalized"]>;

/** The latest that each upstream took for final, and how often the chain has gone back behind it, as only a dev chain does. */
export class Finality {
  readonly #logger: Logger;
  readonly #latest = new Map<string, Checkpoint>();
  #rewinds = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get rewinds(): number {
    return this.#rewinds;
  }

  latest(upstream: string): Checkpoint | undefined {
    return this.#latest.get(upstream);
  }

  note({ upstream, finalized }: Condition): void {
    if (finalized && finalized.epoch > (this.#latest.get(upstream)?.epoch ?? -1)) this.#latest.set(upstream, finalized);
  }

  /** An upstream has left what it took for final. As long as another one holds it, the chain has not. */
  leave(upstream: string, all: readonly Condition[]): void {
    const left = this.#latest.get(upstream);
    if (left === undefined) return;
    this.#latest.delete(upstream);
    const holders = all.filter(({ fitness }) => fitness === "ready" || fitness === "behind");
    if (holders.some((holder) => (this.#latest.get(holder.upstream)?.epoch ?? -1) >= left.epoch)) return;
    this.#rewinds++;
    this.#logger.warn("The chain has gone back behind what was final: what was kept of it is dropped", {
      upstream,
      epoch: left.epoch,
    });
  }
}
