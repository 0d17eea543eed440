import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../../log/logger.ts";
import type { ExecutedBlock } from "../../execution/block.ts";
import type { ChainRules } from "../../execution/rules.ts";
import type { ExecutedBlocks } from "../executed-blocks.ts";
import type { EvmStore } from "./evm-store.ts";
import { decodeBase, encodeBase, hashOfBase } from "./stored-world.ts";

/** Distance between two stored states. Limits how much is re-executed after a restart. */
export interface BaseInterval {
  blocks: bigint;
  gas: bigint;
}

interface StoredBaseParts {
  rules: ChainRules;
  /** Receives the decoded block of the stored state. */
  blocks?: Pick<ExecutedBlocks, "add">;
  interval?: BaseInterval;
  logger: Logger;
}

/** Executing 200 million gas worth of transactions takes one to five seconds. */
const DEFAULT_INTERVAL: BaseInterval = { blocks: 1024n, gas: 200_000_000n };
/**
 * Minimum gas between two stored states per byte of state, so that storing states takes only a small share of the time.
 */
const GAS_PER_BYTE = 100n;

/** Stored state of a finalized block. After a restart, later blocks are re-executed from this state. */
export class StoredBase {
  readonly #parts: StoredBaseParts;
  readonly #interval: BaseInterval;
  #store: Pick<EvmStore, "readBase" | "writeBase"> | undefined;
  /** Number of the block whose state is stored. */
  #number = 0n;
  /** Gas used by finalized blocks since the stored state. */
  #gas = 0n;
  #bytes = 0n;

  constructor(parts: StoredBaseParts) {
    this.#parts = parts;
    this.#interval = parts.interval ?? DEFAULT_INTERVAL;
  }

  /** Connects to the database. Until then, nothing is stored. */
  connect(store: Pick<EvmStore, "readBase" | "writeBase">): void {
    this.#store = store;
  }

  /** Returns a function that decodes the stored state if it belongs to the given block. */
  async open(): Promise<(blockHash: RootHex) => ExecutedBlock | undefined> {
    const { rules, blocks, logger } = this.#parts;
    const unreadable = (error: unknown) =>
      logger.warn("Stored execution state unreadable, executing all payloads again", { error });
    const bytes = await this.#store?.readBase();
    let hash: RootHex | undefined;
    try {
      hash = bytes ? hashOfBase(bytes) : undefined;
    } catch (error) {
      unreadable(error);
    }
    return (blockHash) => {
      if (blockHash !== hash) return undefined;
      try {
        const block = decodeBase(bytes!, rules);
        this.#stored(block, bytes!);
        blocks?.add(block);
        return block;
      } catch (error) {
        unreadable(error);
        return undefined;
      }
    };
  }

  /**
   * Stores the state of the last block if it is far enough from the stored state. The blocks must be finalized and
   * consecutive.
   */
  async advance(finalBlocks: readonly ExecutedBlock[]): Promise<void> {
    const last = finalBlocks.at(-1);
    if (this.#store === undefined || last === undefined) return;
    for (const { header } of finalBlocks) if (header.number > this.#number) this.#gas += header.gasUsed;
    const { blocks, gas } = this.#interval;
    const isFar = last.header.number >= this.#number + blocks;
    const isHeavy = this.#gas >= gas && this.#gas >= GAS_PER_BYTE * this.#bytes;
    if (!isFar && !isHeavy) return;
    const bytes = encodeBase(last);
    await this.#store.writeBase(bytes);
    this.#stored(last, bytes);
  }

  /** Returns a function that restores the current position. The database is reverted separately. */
  capture(): () => void {
    const [number, gas, bytes] = [this.#number, this.#gas, this.#bytes];
    return () => {
      this.#number = number;
      this.#gas = gas;
      this.#bytes = bytes;
    };
  }

  #stored({ header }: ExecutedBlock, { length }: Uint8Array): void {
    this.#number = header.number;
    this.#gas = 0n;
    this.#bytes = BigInt(length);
  }
}
