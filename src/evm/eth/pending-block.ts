import type { ExecutedBlock } from "../execution/block.ts";
import type { EthEngine } from "./eth-engine.ts";

/** Builds the pending block, and caches it until the head, the pool or the block's attributes change. */
export class PendingBlock {
  readonly #engine: Pick<EthEngine, "pendingPlan" | "buildPlanned">;
  #cached: { key: string; block: Promise<ExecutedBlock> } | undefined;

  constructor(engine: Pick<EthEngine, "pendingPlan" | "buildPlanned">) {
    this.#engine = engine;
  }

  /** Returns the pending block on top of the given block. */
  async on(parent: ExecutedBlock): Promise<ExecutedBlock> {
    const known = this.#cached;
    const { key, plan } = await this.#engine.pendingPlan(parent, known?.key);
    if (plan === undefined) return known!.block;
    // Another call may have built the block in the meantime.
    if (this.#cached?.key === key) return this.#cached.block;
    const built = { key, block: this.#engine.buildPlanned(parent, plan) };
    this.#cached = built;
    built.block.catch(() => {
      if (this.#cached === built) this.#cached = undefined;
    });
    return built.block;
  }
}
