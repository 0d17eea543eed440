import type { RootHex } from "@lodestar/types";
import type { ArrivedBlock } from "./segment.ts";

/** Evicted blocks can be fetched from the network again. */
const MAX_BLOCKS = 64;

/**
 * Valid blocks whose payload the execution engine could not verify (sync/optimistic.md, "Execution Engine Errors").
 * Their descendants have an unknown parent and wait elsewhere.
 */
export class BlocksAwaitingEngine {
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

  /** Returns the blocks in slot order, so that parents precede their children. */
  inOrder(): ArrivedBlock[] {
    return [...this.#blocks.values()].sort((a, b) => a.signed.message.slot - b.signed.message.slot);
  }
}
