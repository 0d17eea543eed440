import { LAYERS } from "../keys.ts";
import { type Bound, keyOf, lowerBound, type Name, nameOf } from "./key-names.ts";

export type Operation = { type: "put"; key: Uint8Array; value: Uint8Array } | { type: "del"; key: Uint8Array };

/** An operation without its value. */
export type Change = Pick<Operation, "type" | "key">;

/** Writes made since a point that can be restored. */
interface Layer {
  readonly number: number;
  readonly names: Name[];
  isLive: boolean;
}

/** A layer that is no longer live, with its keys if they are in memory. */
export type DroppedLayer = Pick<Layer, "number"> & Partial<Pick<Layer, "names">>;

/** State of a key in one layer. */
interface Version {
  readonly layer: Layer;
  isDeleted: boolean;
}

/** A key with an entry in a layer. Holds the database key of the value, or null if the layer deleted the key. */
export interface LayeredKey {
  name: Name;
  valueKey: Uint8Array | null;
}

/** Range bounds, including the bucket prefix. */
interface Bounds {
  gt?: Uint8Array;
  gte?: Uint8Array;
  lt?: Uint8Array;
  lte?: Uint8Array;
  reverse: boolean;
}

const NUMBER_BYTES = 4;
const HEADER_BYTES = 1 + NUMBER_BYTES;
/** Lists the live layers. Layer numbers start at 1, so the key belongs to no layer. */
export const LIVE_LAYERS_KEY = layerPrefix(0);
const DELETED = new Uint8Array();

/**
 * Copy-on-write layers over a key-value store. All writes go into the top layer. Reads return the newest live version
 * of a key, or else the value in the base. Removing a layer and all layers above it from the live list restores the
 * previous contents in one write.
 *
 * A layer entry is stored under a reserved prefix, followed by the layer number and the original key. Keys of live
 * layers are held in memory; their values are not.
 */
export class Layers {
  /** Versions of each key, newest last. Versions of dropped layers are removed on access or by `forget`. */
  readonly #versions = new Map<Name, Version[]>();
  /** Sorted keys, by bucket. */
  readonly #names = new Map<number, Name[]>();
  #live: Layer[] = [];
  #lastNumber = 0;

  get isEmpty(): boolean {
    return this.#live.length === 0;
  }

  /** Allocates a layer number. */
  allocate(): number {
    return ++this.#lastNumber;
  }

  /** Returns the write that makes the layer live. */
  addOperation(number: number): Operation {
    return putLiveLayers([...this.#live.map((layer) => layer.number), number]);
  }

  /**
   * Adds a layer whose `addOperation` has been committed. `operations` are the changes already written to the layer.
   */
  add(number: number, operations: readonly Change[] = []): void {
    this.#live.push({ number, names: [], isLive: true });
    this.record(operations);
  }

  /** Returns the write that drops a layer and all layers above it. */
  dropOperation(number: number): Operation {
    return putLiveLayers(this.#live.map((layer) => layer.number).filter((each) => each < number));
  }

  /** Drops the layers once `dropOperation` has been committed. Returns the layers whose entries can be deleted. */
  drop(number: number): readonly DroppedLayer[] {
    const dropped = this.#live.filter((layer) => layer.number >= number);
    for (const layer of dropped) layer.isLive = false;
    this.#live = this.#live.filter((layer) => layer.isLive);
    return dropped;
  }

  /** Frees the memory held for keys of a dropped layer. */
  forget({ names = [] }: DroppedLayer): void {
    const buckets = new Set<number>();
    for (const name of names) {
      if (this.#newest(name) === undefined) buckets.add(name.charCodeAt(0));
    }
    for (const bucket of buckets) {
      const remaining = this.#names.get(bucket)?.filter((name) => this.#versions.has(name)) ?? [];
      this.#names.set(bucket, remaining);
    }
  }

  /** Returns the newest layered version of a key; undefined if no layer has one. */
  find(key: Uint8Array): LayeredKey | undefined {
    return this.isEmpty ? undefined : this.#find(nameOf(key));
  }

  /** Iterates over the layered keys within a range, in range order. Lookups are lazy. */
  *range({ gt, gte, lt, lte, reverse }: Bounds): Generator<LayeredKey> {
    if (this.isEmpty) return;
    const lower = gt ?? gte ?? new Uint8Array();
    const upper = lt ?? lte;
    const bucket = lower[0] ?? 0;
    const lowest: Bound = { name: nameOf(lower), isAfter: gt !== undefined };
    const highest: Bound | undefined = upper && { name: nameOf(upper), isAfter: lte !== undefined };
    // Keys may be added and removed during iteration, so positions are looked up again for each key.
    for (let last: Name | undefined; ; ) {
      const names = this.#names.get(bucket) ?? [];
      const from = lowerBound(names, sameName, last === undefined || reverse ? lowest : { name: last, isAfter: true });
      const end = last !== undefined && reverse ? { name: last, isAfter: false } : highest;
      const to = end ? lowerBound(names, sameName, end) : names.length;
      if (from >= to) return;
      last = names[reverse ? to - 1 : from]!;
      const found = this.#find(last);
      if (found) yield found;
    }
  }

  /** Maps operations to writes into the top layer; returns them unchanged if there is no layer. */
  layered(operations: readonly Operation[]): Operation[] {
    const top = this.#live.at(-1);
    return top ? inLayer(top.number, operations) : [...operations];
  }

  /** Records committed operations. */
  record(operations: readonly Change[]): void {
    const top = this.#live.at(-1);
    if (top) for (const { type, key } of operations) this.#record(top, nameOf(key), type === "del");
  }

  #record(top: Layer, name: Name, isDeleted: boolean): void {
    const newest = this.#newest(name);
    if (newest?.layer === top) {
      newest.isDeleted = isDeleted;
      return;
    }
    top.names.push(name);
    const versions = this.#versions.get(name);
    if (versions) {
      versions.push({ layer: top, isDeleted });
      return;
    }
    this.#versions.set(name, [{ layer: top, isDeleted }]);
    const bucket = name.charCodeAt(0);
    const names = this.#names.get(bucket) ?? [];
    const position = lowerBound(names, sameName, { name, isAfter: false });
    // A key from a dropped layer may still be in the list.
    if (names[position] !== name) names.splice(position, 0, name);
    this.#names.set(bucket, names);
  }

  #find(name: Name): LayeredKey | undefined {
    const newest = this.#newest(name);
    if (!newest) return undefined;
    return { name, valueKey: newest.isDeleted ? null : layerKey(newest.layer.number, keyOf(name)) };
  }

  #newest(name: Name): Version | undefined {
    const versions = this.#versions.get(name);
    while (versions?.at(-1)?.layer.isLive === false) versions.pop();
    if (versions?.length === 0) this.#versions.delete(name);
    return versions?.at(-1);
  }
}

/** Strips the trailing byte that distinguishes an empty value from a deletion. */
export const plainValueOf = (value: Uint8Array): Uint8Array => value.subarray(0, -1);

/** Converts a layer entry into an operation on the base. */
export function asPlainOperation(key: Uint8Array, value: Uint8Array): Operation {
  const plainKey = key.subarray(HEADER_BYTES);
  return value.length === 0
    ? { type: "del", key: plainKey }
    : { type: "put", key: plainKey, value: plainValueOf(value) };
}

/** Converts operations into writes to a layer. */
export function inLayer(number: number, operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => ({
    type: "put",
    key: layerKey(number, operation.key),
    value: operation.type === "put" ? layerValue(operation.value) : DELETED,
  }));
}

/** Key range of a layer's entries. */
export function layerRange(number: number) {
  return { gte: layerPrefix(number), lt: layerPrefix(number + 1) };
}

/** Key range of all layers, including the list of live layers, which is its first key. */
export const ALL_LAYERS_RANGE = { gte: Uint8Array.of(LAYERS), lt: Uint8Array.of(LAYERS + 1) };

/** Decodes the numbers of the live layers, oldest first. */
export function readLiveLayers(value: Uint8Array | undefined): number[] {
  return value === undefined ? [] : (JSON.parse(new TextDecoder().decode(value)) as number[]);
}

function putLiveLayers(numbers: number[]): Operation {
  return { type: "put", key: LIVE_LAYERS_KEY, value: new TextEncoder().encode(JSON.stringify(numbers)) };
}

function layerPrefix(number: number): Uint8Array {
  const prefix = new Uint8Array(HEADER_BYTES);
  prefix[0] = LAYERS;
  new DataView(prefix.buffer).setUint32(1, number);
  return prefix;
}

export function layerKey(number: number, key: Uint8Array): Uint8Array {
  const layered = new Uint8Array(HEADER_BYTES + key.length);
  layered.set(layerPrefix(number));
  layered.set(key, HEADER_BYTES);
  return layered;
}

function layerValue(value: Uint8Array): Uint8Array {
  const layered = new Uint8Array(value.length + 1);
  layered.set(value);
  layered[value.length] = 1;
  return layered;
}

const sameName = (name: Name): Name => name;
