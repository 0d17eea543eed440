import type { Engine, EngineRange } from "./engine.ts";
import { type Bound, keyOf, lowerBound, type Name, nameOf } from "./key-names.ts";
import type { Operation } from "./layers.ts";

/** Immutable, so a copy of the entry list is a snapshot. */
interface Entry {
  readonly name: Name;
  readonly value: Uint8Array;
}

/** In-memory key-value store backed by a sorted list. Values are copied on write and on read. */
export class MemoryEngine implements Engine {
  #entries: Entry[] = [];
  #isOpen = true;

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const value = this.#find(key)?.value;
    return value && new Uint8Array(value);
  }

  async has(key: Uint8Array): Promise<boolean> {
    return this.#find(key) !== undefined;
  }

  iterator(range: EngineRange): AsyncGenerator<[key: Uint8Array, value: Uint8Array]> {
    return inTurn(this.#slice(range), ({ name, value }) => [keyOf(name), new Uint8Array(value)]);
  }

  keys(range: EngineRange): AsyncGenerator<Uint8Array> {
    return inTurn(this.#slice(range), ({ name }) => keyOf(name));
  }

  async batch(operations: readonly Operation[]): Promise<void> {
    this.#requireOpen();
    for (const operation of operations) {
      const name = nameOf(operation.key);
      const position = this.#lowerBound({ name, isAfter: false });
      const replaced = this.#entries[position]?.name === name ? 1 : 0;
      if (operation.type === "del") this.#entries.splice(position, replaced);
      else this.#entries.splice(position, replaced, { name, value: new Uint8Array(operation.value) });
    }
  }

  async clear(range: EngineRange): Promise<void> {
    const { from, to } = this.#positions(range);
    this.#entries.splice(from, to - from);
  }

  async compactRange(): Promise<void> {}

  async approximateSize(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#entries = [];
  }

  #find(key: Uint8Array): Entry | undefined {
    this.#requireOpen();
    const name = nameOf(key);
    const entry = this.#entries[this.#lowerBound({ name, isAfter: false })];
    return entry?.name === name ? entry : undefined;
  }

  #slice(range: EngineRange): Entry[] {
    const { from, to } = this.#positions(range);
    const entries = this.#entries.slice(from, to);
    return range.reverse ? entries.reverse() : entries;
  }

  /** Returns the positions of a range, narrowed to its limit. */
  #positions({ gt, gte, lt, lte, reverse, limit = -1 }: EngineRange): { from: number; to: number } {
    this.#requireOpen();
    const [lower, upper] = [gt ?? gte, lt ?? lte];
    const from = lower ? this.#lowerBound({ name: nameOf(lower), isAfter: gt !== undefined }) : 0;
    const end = upper ? this.#lowerBound({ name: nameOf(upper), isAfter: lt === undefined }) : this.#entries.length;
    const to = Math.max(from, end);
    if (limit < 0) return { from, to };
    return reverse ? { from: Math.max(from, to - limit), to } : { from, to: Math.min(to, from + limit) };
  }

  #lowerBound(bound: Bound): number {
    return lowerBound(this.#entries, entryName, bound);
  }

  #requireOpen(): void {
    if (!this.#isOpen) throw Object.assign(new Error("Database is not open"), { code: "LEVEL_DATABASE_NOT_OPEN" });
  }
}

const entryName = ({ name }: Entry): Name => name;

async function* inTurn<T>(entries: readonly Entry[], convert: (entry: Entry) => T): AsyncGenerator<T> {
  for (const entry of entries) yield convert(entry);
}
