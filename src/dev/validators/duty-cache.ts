import type { Epoch, RootHex } from "@lodestar/types";

export interface FetchedDuties<Duty> {
  duties: Duty[];
  /** Block that determined the duties. Absent for duties that a short reorg cannot change. */
  dependentRoot?: RootHex;
}

interface Entry<Duty> {
  fetched: Promise<FetchedDuties<Duty>>;
  dependentRoot?: RootHex;
}

/** Caches duties of one kind by epoch. Refetches duties if their dependent root is reorged out. */
export class DutyCache<Duty> {
  readonly #fetch: (epoch: Epoch) => Promise<FetchedDuties<Duty>>;
  readonly #entries = new Map<Epoch, Entry<Duty>>();
  readonly #droppedFor = new Map<Epoch, string>();

  constructor(fetch: (epoch: Epoch) => Promise<FetchedDuties<Duty>>) {
    this.#fetch = fetch;
  }

  async get(epoch: Epoch): Promise<Duty[]> {
    const existing = this.#entries.get(epoch);
    if (existing) return (await existing.fetched).duties;

    const entry: Entry<Duty> = { fetched: this.#fetch(epoch) };
    this.#entries.set(epoch, entry);
    try {
      const { duties, dependentRoot } = await entry.fetched;
      entry.dependentRoot = dependentRoot;
      return duties;
    } catch (error) {
      // Failures are not cached, so the next slot retries.
      if (this.#entries.get(epoch) === entry) this.#entries.delete(epoch);
      throw error;
    }
  }

  /**
   * Drops an epoch's duties unless their dependent root is one of the given roots. Does so only once per set of roots,
   * so a node that keeps returning a different root is not queried on every new head.
   */
  invalidateUnless(epoch: Epoch, dependentRoots: readonly RootHex[]): void {
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

  pruneBefore(epoch: Epoch): void {
    for (const map of [this.#entries, this.#droppedFor]) {
      for (const cachedEpoch of map.keys()) if (cachedEpoch < epoch) map.delete(cachedEpoch);
    }
  }
}
