import { SingleFlight } from "../../async/single-flight.ts";
import { TimeSlice } from "../../async/time-slice.ts";
import { LruMap } from "../../collections/lru-map.ts";
import type { ReceiptedBlock } from "../engine/storage/block-archive.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import type { EthEngine } from "./eth-engine.ts";

/** Maximum number of blocks re-executed for one state. */
const MAX_REBUILT_BLOCKS = 1024;
const CACHED_STATES = 16;

/** Rebuilds states that are no longer in memory by re-executing archived blocks. */
export class OldStates {
  readonly #engine: EthEngine;
  readonly #maxBlocks: number;
  readonly #cache = new LruMap<string, ExecutedBlock>(CACHED_STATES);
  readonly #rebuilding = new SingleFlight<string, ExecutedBlock | undefined>();

  constructor(engine: EthEngine, maxBlocks = MAX_REBUILT_BLOCKS) {
    this.#engine = engine;
    this.#maxBlocks = maxBlocks;
  }

  /** Returns undefined if no earlier state is close enough. */
  async find(block: ReceiptedBlock): Promise<ExecutedBlock | undefined> {
    const hash = toHex(block.hash);
    const cached = this.#cached(hash);
    if (cached !== undefined) return cached;
    return this.#rebuilding.run(hash, undefined, async () => {
      const rebuilt = await this.#rebuild(block);
      if (rebuilt !== undefined) this.#cache.set(hash, rebuilt);
      return rebuilt;
    });
  }

  #cached(hash: string): ExecutedBlock | undefined {
    return this.#engine.blocks.get(hash) ?? this.#cache.get(hash);
  }

  async #rebuild(block: ReceiptedBlock): Promise<ExecutedBlock | undefined> {
    const { archive } = this.#engine;
    const readBase = await this.#engine.openBase();
    const missing: ReceiptedBlock[] = [];
    let next: ReceiptedBlock | undefined = block;
    let state = readBase(toHex(block.hash));
    while (state === undefined) {
      if (next === undefined || missing.length === this.#maxBlocks) return undefined;
      missing.push(next);
      const parentHash: string = toHex(next.header.parentHash);
      state = this.#cached(parentHash) ?? readBase(parentHash);
      if (state === undefined) next = await archive?.byNumber(next.header.number - 1n);
    }
    const slice = new TimeSlice();
    for (const each of missing.reverse()) {
      state = await this.#engine.execute(state, each);
      await slice.yieldIfDue();
    }
    return state;
  }
}
