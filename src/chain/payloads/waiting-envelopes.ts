import type { gloas, RootHex } from "@lodestar/types";

/** Envelopes can be fetched from the network again. */
const MAX_BLOCKS = 16;
/** Without the block, the builder's signature cannot be verified, so forged envelopes may arrive first. */
const MAX_PER_BLOCK = 2;

/** A received envelope. */
export interface ArrivedEnvelope {
  signed: gloas.SignedExecutionPayloadEnvelope;
  /** Root of its block. */
  root: RootHex;
  /** Arrival in chain time. */
  arrivedAt: number;
}

/** Envelopes held until their block is imported, or until the execution engine is reachable again. */
export class WaitingEnvelopes {
  readonly #byRoot = new Map<RootHex, ArrivedEnvelope[]>();

  /** Number of blocks with waiting envelopes. */
  get size(): number {
    return this.#byRoot.size;
  }

  has(root: RootHex): boolean {
    return this.#byRoot.has(root);
  }

  /** Adds an envelope. At the limits, evicts the oldest block, and the oldest envelope of the block. */
  add(envelope: ArrivedEnvelope): void {
    const { root } = envelope;
    const others = (this.#byRoot.get(root) ?? []).filter(({ signed }) => signed !== envelope.signed);
    this.#byRoot.set(root, [...others, envelope].slice(-MAX_PER_BLOCK));
    if (this.#byRoot.size <= MAX_BLOCKS) return;
    const [oldest] = [...this.#byRoot.keys()].sort((a, b) => this.#slotOf(a) - this.#slotOf(b));
    this.#byRoot.delete(oldest!);
  }

  /** Removes and returns the envelopes of a block, oldest first. */
  take(root: RootHex): ArrivedEnvelope[] {
    const envelopes = this.#byRoot.get(root) ?? [];
    this.#byRoot.delete(root);
    return envelopes;
  }

  /** Removes and returns all envelopes in slot order, so that parents precede their children. */
  takeAll(): ArrivedEnvelope[] {
    const envelopes = [...this.#byRoot.values()].flat();
    this.#byRoot.clear();
    return envelopes.sort((a, b) => slotOf(a) - slotOf(b));
  }

  prune(slot: number): void {
    for (const root of [...this.#byRoot.keys()]) if (this.#slotOf(root) < slot) this.#byRoot.delete(root);
  }

  clear(): void {
    this.#byRoot.clear();
  }

  #slotOf(root: RootHex): number {
    return Math.max(...this.#byRoot.get(root)!.map(slotOf));
  }
}

const slotOf = ({ signed }: ArrivedEnvelope): number => signed.message.payload.slotNumber;
