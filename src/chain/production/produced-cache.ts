import { LruMap } from "../../collections/lru-map.ts";

/** A few entries suffice, since a proposer signs within its slot. */
const KEPT_OF_EACH = 4;

/** Cache of recently produced blocks. Requests without a valid randao reveal evict only each other. */
export class ProducedCache<K, V> {
  readonly #proposers = new LruMap<K, V>(KEPT_OF_EACH);
  readonly #anonymous = new LruMap<K, V>(KEPT_OF_EACH);

  set(key: K, value: V, { isAnonymous = false }: { isAnonymous?: boolean }): void {
    (isAnonymous ? this.#anonymous : this.#proposers).set(key, value);
  }

  get(key: K): V | undefined {
    return this.#proposers.get(key) ?? this.#anonymous.get(key);
  }
}
