import { LAYERS } from "./keys.ts";

export type Operation = { type: "put"; key: Uint8Array; value: Uint8Array } | { type: "del"; key: Uint8Array };

/** What an operation says of its key. */
export type Change = Pick<Operation, "type" | "key">;

/** A key as a string of one character a byte: such strings are equal, and in order, as their bytes are. */
type Name = string;

/** What is written since a snapshot was taken. */
interface Layer {
  readonly number: number;
  readonly names: Name[];
  isLive: boolean;
}

/** A layer that is not live, and the keys that are held of it, if any are. */
export type DroppedLayer = Pick<Layer, "number"> & Partial<Pick<Layer, "names">>;

/** What a layer says of a key. */
interface Version {
  readonly layer: Layer;
  isDeleted: boolean;
}

/** A key of which a layer says something, and where its value stands; null for a key that it deleted. */
export interface LayeredKey {
  name: Name;
  valueKey: Uint8Array | null;
}

/** The bounds of a range, with the byte of the bucket. */
interface Bounds {
  gt?: Uint8Array;
  gte?: Uint8Array;
  lt?: Uint8Array;
  lte?: Uint8Array;
  reverse: boolean;
}

/** A place among names: before one of them, or after it. */
interface Bound {
  name: Name;
  isAfter: boolean;
}

const NUMBER_BYTES = 4;
const HEADER_BYTES = 1 + NUMBER_BYTES;
/** Under which the live layers are named. Numbers of layers begin with one, so that this key is none of theirs. */
export const LIVE_LAYERS_KEY = layerPrefix(0);
const DELETED = new Uint8Array();

/**
 * Layers over the keys of a store. While there are any, all writes go into the newest one, and reads find what the newest
 * layer says of a key, or else what stands below all layers. So the store is as it was before a layer when that layer and
 * those above it are not named among the live ones any more, which takes one write however much they hold.
 *
 * An entry of a layer stands under a reserved byte, the number of the layer and the key itself. What each live layer has of
 * keys, not of values, is held here.
 */
export class Layers {
  /** Of each key what its layers say, the newest last. Those of dropped layers go when they are met, or by `forget`. */
  readonly #versions = new Map<Name, Version[]>();
  /** The same keys of each bucket, in order. */
  readonly #names = new Map<number, Name[]>();
  #live: Layer[] = [];
  #lastNumber = 0;

  get isEmpty(): boolean {
    return this.#live.length === 0;
  }

  /** The number of a layer that is to come to be. */
  next(): number {
    return ++this.#lastNumber;
  }

  /** The write by which it does. */
  adding(number: number): Operation {
    return namingLive([...this.#live.map((layer) => layer.number), number]);
  }

  /** To be called when that write is done, with what was written into the layer before. */
  add(number: number, operations: readonly Change[] = []): void {
    this.#live.push({ number, names: [], isLive: true });
    this.note(operations);
  }

  /** The write by which a layer and all above it come to be dropped. */
  dropping(number: number): Operation {
    return namingLive(this.#live.map((layer) => layer.number).filter((each) => each < number));
  }

  /** To be called when that write is done; tells which layers have entries now that belong to none. */
  drop(number: number): readonly DroppedLayer[] {
    const dropped = this.#live.filter((layer) => layer.number >= number);
    for (const layer of dropped) layer.isLive = false;
    this.#live = this.#live.filter((layer) => layer.isLive);
    return dropped;
  }

  /** Gives the memory back that keys of a dropped layer take. */
  forget({ names = [] }: DroppedLayer): void {
    const touched = new Set<number>();
    for (const name of names) {
      if (this.#newest(name) === undefined) touched.add(name.charCodeAt(0));
    }
    for (const bucket of touched) {
      const left = this.#names.get(bucket)?.filter((name) => this.#versions.has(name)) ?? [];
      this.#names.set(bucket, left);
    }
  }

  /** What layers say of a key; undefined when they say nothing. */
  find(key: Uint8Array): LayeredKey | undefined {
    return this.isEmpty ? undefined : this.#find(nameOf(key));
  }

  /** The keys within a range of which layers say something, in the order of the range; each is looked for when it is asked for. */
  *range({ gt, gte, lt, lte, reverse }: Bounds): Generator<LayeredKey> {
    if (this.isEmpty) return;
    const lower = gt ?? gte ?? new Uint8Array();
    const upper = lt ?? lte;
    const bucket = lower[0] ?? 0;
    const lowest: Bound = { name: nameOf(lower), isAfter: gt !== undefined };
    const highest: Bound | undefined = upper && { name: nameOf(upper), isAfter: lte !== undefined };
    // Keys may come and go meanwhile, so that positions say nothing from one key to the next.
    for (let last: Name | undefined; ; ) {
      const names = this.#names.get(bucket) ?? [];
      const from = positionIn(names, last === undefined || reverse ? lowest : { name: last, isAfter: true });
      const end = last !== undefined && reverse ? { name: last, isAfter: false } : highest;
      const to = end ? positionIn(names, end) : names.length;
      if (from >= to) return;
      last = names[reverse ? to - 1 : from]!;
      const found = this.#find(last);
      if (found) yield found;
    }
  }

  /** What has to be written so that the newest layer has the operations; just these when there is none. */
  layered(operations: readonly Operation[]): Operation[] {
    const top = this.#live.at(-1);
    return top ? inLayer(top.number, operations) : [...operations];
  }

  /** To be called when that is written. */
  note(operations: readonly Change[]): void {
    const top = this.#live.at(-1);
    if (top) for (const { type, key } of operations) this.#note(top, nameOf(key), type === "del");
  }

  #note(top: Layer, name: Name, isDeleted: boolean): void {
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
    const position = positionIn(names, { name, isAfter: false });
    // A key of a dropped layer may still stand there.
    if (names[position] !== name) names.splice(position, 0, name);
    this.#names.set(bucket, names);
  }

  #find(name: Name): LayeredKey | undefined {
    const newest = this.#newest(name);
    if (!newest) return undefined;
    return { name, valueKey: newest.isDeleted ? null : layerKey(newest.layer.number, Buffer.from(name, "latin1")) };
  }

  #newest(name: Name): Version | undefined {
    const versions = this.#versions.get(name);
    while (versions?.at(-1)?.layer.isLive === false) versions.pop();
    if (versions?.length === 0) this.#versions.delete(name);
    return versions?.at(-1);
  }
}

export const nameOf = (key: Uint8Array): Name => Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");

export const plainKeyOf = ({ name }: LayeredKey): Uint8Array => new Uint8Array(Buffer.from(name, "latin1"));

/** The last byte says that there is a value, however short. */
export const plainValueOf = (value: Uint8Array): Uint8Array => value.subarray(0, -1);

/** What an entry of a layer means for the keys below it. */
export function asPlainOperation(key: Uint8Array, value: Uint8Array): Operation {
  const plainKey = key.subarray(HEADER_BYTES);
  return value.length === 0
    ? { type: "del", key: plainKey }
    : { type: "put", key: plainKey, value: plainValueOf(value) };
}

/** What has to be written so that a layer has the operations. */
export function inLayer(number: number, operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => ({
    type: "put",
    key: layerKey(number, operation.key),
    value: operation.type === "put" ? layerValue(operation.value) : DELETED,
  }));
}

/** Where the entries of a layer stand. */
export function rangeOfLayer(number: number) {
  return { gte: layerPrefix(number), lt: layerPrefix(number + 1) };
}

/** Where the entries of all layers stand, and which of them are live. The latter is the first key. */
export const RANGE_OF_LAYERS = { gte: Uint8Array.of(LAYERS), lt: Uint8Array.of(LAYERS + 1) };

/** The numbers of the live layers, the oldest first. */
export function readLive(value: Uint8Array | undefined): number[] {
  return value === undefined ? [] : (JSON.parse(new TextDecoder().decode(value)) as number[]);
}

function namingLive(numbers: number[]): Operation {
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

/** Where a name stands in a list, or would; or where those after it begin. */
function positionIn(names: readonly Name[], { name, isAfter }: Bound): number {
  let [from, to] = [0, names.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const isBelow = isAfter ? names[middle]! <= name : names[middle]! < name;
    if (isBelow) from = middle + 1;
    else to = middle;
  }
  return from;
}
