import type { Epoch, RootHex } from "@lodestar/types";

export interface FetchedDuties<Duty> {
  duties: Duty[];
  /** The block that decided the duties; absent for duties that no short reorganisation can change. */
  dependentRoot?: RootHex;
}

interface Entry<Duty> {
  fetched: Promise<FetchedDuties<Duty>>;
  dependentRoot?: RootHex;
}

/** Duties of one kind, fetched once an epoch and again when the block that decided them is no longer in the chain. */
export class DutyCache<Duty> {
  readonly #fetch: (epoch: Epoch) => Promise<FetchedDuties<Duty>>;
  readonly #entries = new Map<Epoch, Entry<Duty>>();
  readonly #droppedFor = new Map<Epoch, string>();

  constructor(fetch: (epoch: Epoch) => Promise<FetchedDuties<Duty>>) {
    this.#fetch = fetch;
  }

  async get(epoch: Epoch): Promise<Duty[]> {
    const known = this.#entries.get(epoch);
    if (known) return (await known.fetched).duties;

    const entry: Entry<Duty> = { fetched: this.#fetch(epoch) };
    this.#entries.set(epoch, entry);
    try {
      const { duties, dependentRoot } = await entry.fetched;
      entry.dependentRoot = dependentRoot;
      return duties;
    } catch (error) {
      // A failure is not remembered: the next slot asks again.
      if (this.#entries.get(epoch) === entry) this.#entries.delete(epoch);
      throw error;
    }
  }

  /**
   * Drops an epoch's duties unless one of the given roots decided them. A node that keeps answering with another root
   * is asked once for each new set of roots, not with every head.
   */
  expect(epoch: Epoch, dependentRoots: readonly RootHex[]): void {
    const root = this.#entries.get(epoch)?.dependentRoot;
    if (root === undefined || dependentRoots.includes(root)) return;
    const reason = dependentRoots.join();
    if (this.#droppedFor.get(epoch) === reason) return;
    this.#droppedFor.set(epoch, reason);
    this.#entries.delete(epoch);
  }

  clear(): void {
    this.#entries.clear();
    this.#droppedFor.clear();
  }

  forgetBefore(epoch: Epoch): void {
    for (const map of [this.#entries, this.#droppedFor]) {
      for (const known of map.keys()) if (known < epoch) map.delete(known);
    }
  }
}
