import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ArrivedBlock } from "./segment.ts";

/** Evicted blocks can be fetched from the network again. */
const MAX_BLOCKS = 64;

/**
 * Blocks held until something outside them arrives: a verdict on their payload from the execution engine
 * (sync/optimistic.md, "Execution Engine Errors"), or the payload of their parent. Their descendants have an unknown
 * parent and wait elsewhere.
 */
export class HeldBlocks {
  readonly #blocks = new Map<RootHex, ArrivedBlock>();

  get size(): number {
    return this.#blocks.size;
  }

  has(root: RootHex): boolean {
    return this.#blocks.has(root);
  }

  /** Adds a block. At the limit, evicts the oldest one, which is furthest from the head. */
  add(block: ArrivedBlock): void {
    this.#blocks.set(block.root, block);
    if (this.#blocks.size > MAX_BLOCKS) this.delete(this.inOrder()[0]!.root);
  }

  delete(root: RootHex): void {
    this.#blocks.delete(root);
  }

  /** Drops the blocks for which `check` throws. */
  dropUnfit(check: (block: ArrivedBlock) => void): void {
    for (const block of [...this.#blocks.values()]) {
      try {
        check(block);
      } catch {
        this.delete(block.root);
      }
    }
  }

  clear(): void {
    this.#blocks.clear();
  }

  /** Returns the blocks in slot order, so that parents precede their children. */
  inOrder(): ArrivedBlock[] {
    return [...this.#blocks.values()].sort((a, b) => a.signed.message.slot - b.signed.message.slot);
  }

  childrenOf(root: RootHex): ArrivedBlock[] {
    return this.inOrder().filter(({ signed }) => toRootHex(signed.message.parentRoot) === root);
  }
}
