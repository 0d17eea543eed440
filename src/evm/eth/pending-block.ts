import type { EvmEngine } from "../engine/evm-engine.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import type { BlockAttributes } from "../execution/block-executor.ts";
import { toHex } from "../execution/payload.ts";

interface CachedBlock {
  parent: ExecutedBlock;
  /** Revision of the pool that the block was built from. */
  revision: number;
  attributes: BlockAttributes;
  block: Promise<ExecutedBlock>;
}

/** Builds the pending block. Caches it until the head, the pool or its attributes change. */
export class PendingBlock {
  readonly #engine: EvmEngine;
  #cached: CachedBlock | undefined;

  constructor(engine: EvmEngine) {
    this.#engine = engine;
  }

  /** Returns the next block on a block. */
  async on(parent: ExecutedBlock): Promise<ExecutedBlock> {
    const attributes = await this.#engine.nextAttributes(parent);
    const { revision } = this.#engine.pool;
    const cached = this.#cached;
    if (cached?.parent === parent && cached.revision === revision && isSame(cached.attributes, attributes)) {
      return cached.block;
    }
    const block = this.#engine.buildPending(parent, attributes);
    const built: CachedBlock = { parent, revision, attributes, block };
    this.#cached = built;
    block.catch(() => {
      if (this.#cached === built) this.#cached = undefined;
    });
    return block;
  }
}

function isSame(one: BlockAttributes, other: BlockAttributes): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf({ timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot }: BlockAttributes): string {
  const root = parentBeaconBlockRoot && toHex(parentBeaconBlockRoot);
  return [timestamp, toHex(prevRandao), toHex(feeRecipient), root, withdrawals?.map(({ index }) => index)].join();
}
