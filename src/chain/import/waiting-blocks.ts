import type { RootHex } from "@lodestar/types";
import type { ArrivedBlock } from "./segment.ts";

/** The network brings what finds no room here again. */
const MAX_BLOCKS = 64;

/**
 * Blocks that are in order but for what the execution engine has to say, which it could not: sync/optimistic.md, "Execution Engine
 * Errors". Their descendants wait elsewhere, because they are blocks with an unknown parent.
 */
export class WaitingBlocks {
  readonly #blocks = new Map<RootHex, ArrivedBlock>();

  get size(): number {
    return this.#blocks.size;
  }

  has(root: RootHex): boolean {
    return this.#blocks.has(root);
  }

  /** Where there are too many, the oldest gives way: it is the furthest from the head. */
  add(block: ArrivedBlock): void {
    this.#blocks.set(block.root, block);
    if (this.#blocks.size > MAX_BLOCKS) this.delete(this.inOrder()[0]!.root);
  }

  delete(root: RootHex): void {
    this.#blocks.delete(root);
  }

  /** By their slots, so that a parent comes before its children. */
  inOrder(): ArrivedBlock[] {
    return [...this.#blocks.values()].sort((a, b) => a.signed.message.slot - b.signed.message.slot);
  }
}
