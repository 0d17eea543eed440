interface Entry<V> {
  value: V;
  bytes: number;
}

interface Limits {
  entries?: number;
  bytes: number;
}

/** Byte-bounded LRU map: evicts the least recently used entries when it exceeds its limits. */
export class ByteLru<V> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** In order of use, most recent last. */
  readonly #entries = new Map<string, Entry<V>>();
  #bytes = 0;

  constructor({ entries = Number.POSITIVE_INFINITY, bytes }: Limits) {
    this.#maxEntries = entries;
    this.#maxBytes = bytes;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** `bytes` is the size of the value. The length of the key is added to this size. */
  set(key: string, value: V, bytes: number): void {
    this.delete(key);
    const entry = { value, bytes: key.length + bytes };
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
