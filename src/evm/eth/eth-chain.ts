import type { EvmEngine } from "../engine/evm-engine.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import type { BlockId, ChainTags } from "./block-id.ts";
import { EthError } from "./eth-error.ts";
import type { ReceiptedBlock } from "./receipted-block.ts";

/** Finds blocks by what callers name them. Consensus decides which chain is the canonical one. */
export class EthChain {
  readonly engine: EvmEngine;
  #tags: ChainTags;
  /** Hashes of canonical blocks by number. */
  readonly #canonical = new Map<bigint, string>();

  constructor(engine: EvmEngine) {
    this.engine = engine;
    const genesis = toHex(engine.blocks.genesis.hash);
    this.#tags = { latest: genesis, safe: genesis, finalized: genesis };
    this.#canonical.set(0n, genesis);
  }

  get tags(): ChainTags {
    return this.#tags;
  }

  setTags(tags: ChainTags): void {
    this.#tags = tags;
    this.#follow(tags.latest);
  }

  get latest(): ExecutedBlock {
    const block = this.engine.blocks.get(this.#tags.latest);
    if (block === undefined) throw new EthError("header not found");
    return block;
  }

  /** Returns a block; undefined if there is none. */
  async find(id: BlockId): Promise<ReceiptedBlock | undefined> {
    if ("tag" in id && id.tag === "pending") return this.pending();
    const hash = this.#hashOf(id);
    return hash === undefined ? undefined : this.engine.blocks.get(hash);
  }

  /** Returns a block with its state. Throws an `EthError` if there is none. */
  async withState(id: BlockId): Promise<ExecutedBlock> {
    if ("tag" in id && id.tag === "pending") return this.pending();
    const hash = this.#hashOf(id);
    const block = hash === undefined ? undefined : this.engine.blocks.get(hash);
    if (block === undefined) throw new EthError("hash" in id ? "header for hash not found" : "header not found");
    return block;
  }

  /** Builds the next block from the pool, without storing it. */
  pending(): Promise<ExecutedBlock> {
    return this.engine.buildPending(this.latest);
  }

  isCanonical(hash: string, number: bigint): boolean {
    return this.#canonical.get(number) === hash;
  }

  #hashOf(id: BlockId): string | undefined {
    if ("number" in id) return this.#canonical.get(id.number);
    if ("tag" in id) {
      if (id.tag === "earliest") return this.#canonical.get(0n);
      return id.tag === "pending" ? undefined : this.#tags[id.tag];
    }
    if (!id.requireCanonical) return id.hash;
    const number = this.engine.blocks.get(id.hash)?.header.number;
    if (number !== undefined && !this.isCanonical(id.hash, number))
      throw new EthError("hash is not currently canonical");
    return id.hash;
  }

  /** Makes the branch of a block the canonical one. */
  #follow(latest: string): void {
    let block = this.engine.blocks.get(latest);
    if (block === undefined) return;
    for (let above = block.header.number + 1n; this.#canonical.delete(above); above++);
    while (block !== undefined) {
      const hash = toHex(block.hash);
      const { number } = block.header;
      if (this.#canonical.get(number) === hash) return;
      this.#canonical.set(number, hash);
      block = this.engine.blocks.parentOf(block);
    }
  }
}
