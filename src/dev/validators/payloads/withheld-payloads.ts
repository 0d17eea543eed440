import type { RootHex } from "@lodestar/types";

/** An older payload can hardly become part of the chain. */
const MAX_PAYLOADS = 64;

/** Reveals a payload. Rejects if the chain does. */
type Reveal = () => Promise<void>;

/** Signed payloads that were withheld, by block root. Kept in memory only. */
export class WithheldPayloads {
  #payloads: ReadonlyMap<RootHex, Reveal> = new Map();

  /** Roots of the blocks whose payloads are withheld, newest first. */
  get roots(): readonly RootHex[] {
    return [...this.#payloads.keys()].reverse();
  }

  has(root: RootHex): boolean {
    return this.#payloads.has(root);
  }

  add(root: RootHex, reveal: Reveal): void {
    this.#payloads = new Map([...this.#payloads, [root, reveal] as const].slice(-MAX_PAYLOADS));
  }

  /** Reveals the payload of a block. It stays withheld if that fails. */
  async reveal(root: RootHex): Promise<void> {
    await this.#payloads.get(root)?.();
    this.#payloads = new Map([...this.#payloads].filter(([other]) => other !== root));
  }

  clear(): void {
    this.#payloads = new Map();
  }

  capture(): () => void {
    const payloads = this.#payloads;
    return () => {
      this.#payloads = payloads;
    };
  }
}
