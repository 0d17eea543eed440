interface Sized<V> {
  value: V;
  bytes: number;
}

interface SizeLimits {
  entries?: number;
  bytes: number;
}

/** A map that holds so many bytes at most, and drops the least recently used entries to make room for new ones. */
export class SizedMap<V> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** Those that were used last are last. */
  readonly #entries = new Map<string, Sized<V>>();
  #bytes = 0;

  constructor({ entries = Number.POSITIVE_INFINITY, bytes }: SizeLimits) {
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

  /** `bytes` is the size of the value; that of the key counts, too. */
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
