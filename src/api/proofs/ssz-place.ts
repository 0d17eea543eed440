import {
  concatGindices,
  type Gindex,
  getNode,
  type LeafNode,
  type Node,
  toGindex,
} from "@chainsafe/persistent-merkle-tree";
import {
  ArrayType,
  type BasicType,
  BitArrayType,
  BitVectorType,
  BooleanType,
  ByteArrayType,
  ByteVectorType,
  type CompositeTypeAny,
  ContainerType,
  isBasicType,
  ProgressiveContainerType,
  type Type,
  UintNumberType,
} from "@chainsafe/ssz";
import { invalidParams } from "../../errors/failure.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { parseUint64 } from "../params/scalars.ts";
import { describeGiven } from "../params/schema.ts";

/** Names of fields, in the words of the specification, and indices of lists and vectors. */
export type SszPath = readonly (string | number)[];

/** A node of an object's Merkle tree. */
export interface TreePlace {
  readonly gindex: Gindex;
  readonly node: Node;
}

/** What a path leads to. A value that shares its leaf with others is found in it by its offset. */
export interface SszPlace extends TreePlace {
  readonly type: Type<unknown>;
  /** The first byte of the value within its leaf; undefined where the node is the root of the whole value. */
  readonly offset?: number;
  /** Of a bit within that byte, from the lowest one. */
  readonly bit?: number;
}

/** An object whose parts are proven. */
export interface SszObject {
  readonly type: CompositeTypeAny;
  readonly node: Node;
  /** What it is, without an article: "state" or "block". */
  readonly noun: string;
  readonly fork: string;
  /** The types of such objects in all forks, in their order. */
  typesByFork(): ReadonlyMap<string, Type<unknown>>;
}

type AnyContainer =
  | ContainerType<Record<string, Type<unknown>>>
  | ProgressiveContainerType<Record<string, Type<unknown>>>;

const LENGTH_GINDEX = 3n;
/** The second is the specification's own (ssz/merkle-proofs.md). */
const LENGTH_NAMES: readonly unknown[] = ["length", "__len__"];
const BYTES_IN_LEAF = 32;

const bitType = new BooleanType();
const byteType = new UintNumberType(1);
const lengthType = new UintNumberType(8);

/** Throws a failure that says which step of the path leads nowhere, and which would lead on. */
export function placeAtPath(object: SszObject, path: SszPath): SszPlace {
  let place: SszPlace = { type: object.type, node: object.node, gindex: 1n };
  for (const [position, step] of path.entries()) {
    place = stepInto(object, place, path.slice(0, position), step);
  }
  return place;
}

function stepInto(object: SszObject, place: SszPlace, before: SszPath, step: string | number): SszPlace {
  const { type } = place;
  if (isContainer(type)) {
    const field = fieldOf(type, step);
    if (field === undefined) throw unknownField(object, type, before, step);
    return below(place, field.gindex, field.fieldType);
  }
  if (isList(type) && LENGTH_NAMES.includes(step)) return { ...below(place, LENGTH_GINDEX, lengthType), offset: 0 };
  const elements = elementsOf(type, place.node);
  if (elements === undefined) {
    throw invalidParams(
      `${shown(before)} is a single value, so that the path cannot go on with ${describeGiven(step)}.`,
    );
  }
  return elementAt(place, elements, before, step);
}

/** The elements of a list or vector, of which several may share a leaf. */
interface Elements {
  readonly type: Type<unknown>;
  readonly length: number;
  readonly inLeaf: number;
}

function elementsOf(type: Type<unknown>, node: Node): Elements | undefined {
  if (type instanceof ArrayType) {
    const { elementType, itemsPerChunk } = type as ArrayType<Type<unknown>, unknown, unknown>;
    return { type: elementType, length: type.tree_getLength(node), inLeaf: itemsPerChunk };
  }
  if (type instanceof BitArrayType) {
    const length = type instanceof BitVectorType ? type.lengthBits : lengthIn(node);
    return { type: bitType, length, inLeaf: 8 * BYTES_IN_LEAF };
  }
  if (type instanceof ByteArrayType) {
    const length = type instanceof ByteVectorType ? type.lengthBytes : lengthIn(node);
    return { type: byteType, length, inLeaf: BYTES_IN_LEAF };
  }
  return undefined;
}

const lengthIn = (node: Node): number => lengthType.tree_getFromNode(node.right as LeafNode);

function elementAt(place: SszPlace, elements: Elements, before: SszPath, step: string | number): SszPlace {
  const { length, inLeaf } = elements;
  const index = parseUint64(step);
  if (index === undefined || !(index < length)) throw noSuchElement(place.type, length, before, step);
  const type = place.type as CompositeTypeAny;
  const gindex = type.getPropertyGindex(index) ?? toGindex(type.depth, BigInt(Math.floor(index / inLeaf)));
  const found = below(place, gindex, elements.type);
  if (!isBasicType(elements.type)) return found;
  const inThisLeaf = index % inLeaf;
  if (elements.type === bitType) return { ...found, offset: inThisLeaf >> 3, bit: inThisLeaf & 7 };
  return { ...found, offset: inThisLeaf * elements.type.byteLength };
}

function below(place: TreePlace, gindex: Gindex, type: Type<unknown>): SszPlace {
  const found = { gindex: concatGindices([place.gindex, gindex]), node: getNode(place.node, gindex), type };
  return isBasicType(type) ? { ...found, offset: 0 } : found;
}

/** Throws a failure for an index below a leaf of the tree. */
export function placeAtGindex({ node: root, noun }: Pick<SszObject, "node" | "noun">, gindex: Gindex): TreePlace {
  let node = root;
  let reached = 1n;
  for (const bit of gindex.toString(2).slice(1)) {
    if (node.isLeaf()) {
      throw invalidParams(
        `The ${noun} has no node with the generalized index ${gindex}: it would be below ${reached}, which is a leaf.`,
      );
    }
    node = bit === "1" ? node.right : node.left;
    reached = 2n * reached + BigInt(bit);
  }
  return { gindex, node };
}

/** The JSON of the value at a place; null for one that takes more bytes than that. */
export function smallValueAt({ type, node, offset, bit }: SszPlace, maxBytes: number): unknown {
  if (bit !== undefined) {
    const byte = byteType.tree_getFromPackedNode(node as LeafNode, offset!);
    return ((byte >> bit) & 1) === 1;
  }
  if (isBasicType(type)) {
    const basic = type as BasicType<unknown>;
    return basic.toJson(basic.tree_getFromPackedNode(node as LeafNode, offset! / basic.byteLength));
  }
  if (type.tree_serializedSize(node) > maxBytes) return null;
  return type.toJson(type.tree_toValue(node));
}

function isContainer(type: Type<unknown>): type is AnyContainer {
  return type instanceof ContainerType || type instanceof ProgressiveContainerType;
}

function isList(type: Type<unknown>): boolean {
  return !isBasicType(type) && (type as CompositeTypeAny).isList;
}

function fieldOf(type: AnyContainer, name: string | number) {
  return type.fieldsEntries.find(({ jsonKey }) => jsonKey === name);
}

function unknownField(object: SszObject, type: AnyContainer, before: SszPath, step: string | number) {
  const { noun, fork } = object;
  const where = before.length === 0 ? `a ${noun} of ${fork}` : shown(before);
  const there = `There is no field ${typeof step === "number" ? step : describeGiven(step)} in ${where}`;
  const others = forksWith(object, [...before, step]);
  if (others !== undefined) return invalidParams(`${there}: ${others}.`);
  const names = type.fieldsEntries.map(({ jsonKey }) => jsonKey);
  const meant = nearestName(String(step), names);
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  return invalidParams(`${there}.${hint} The fields there are ${names.join(", ")}.`);
}

/** Which other forks the path is right in; undefined when there is none. */
function forksWith(object: SszObject, path: SszPath): string | undefined {
  const types = object.typesByFork();
  const forks = [...types.keys()];
  const having = forks.filter((fork) => hasPath(types.get(fork)!, path));
  const [first] = having;
  const last = having.at(-1);
  if (first === undefined) return undefined;
  if (last === forks.at(-1)) return `it came with ${first}`;
  return first === forks[0] ? `it was there up to ${last}` : `it was there from ${first} to ${last}`;
}

/** Whether objects of the type can have something there, whatever the lengths of their lists. */
function hasPath(root: Type<unknown>, path: SszPath): boolean {
  let type: Type<unknown> | undefined = root;
  for (const step of path) {
    if (type === undefined) return false;
    if (isContainer(type)) type = fieldOf(type, step)?.fieldType;
    else type = type instanceof ArrayType ? (type.elementType as Type<unknown>) : undefined;
  }
  return type !== undefined;
}

function noSuchElement(type: Type<unknown>, length: number, before: SszPath, step: string | number) {
  const lengthName = isList(type) ? ` or "length"` : "";
  if (length === 0) {
    return invalidParams(
      `${shown(before)} is an empty list, of which nothing but its "length" can be proven, but ${describeGiven(step)} was given.`,
    );
  }
  return invalidParams(
    `${shown(before)} has ${length} elements: the path must go on with an index from 0 to ${length - 1}${lengthName}, ` +
      `but ${describeGiven(step)} was given.`,
  );
}

const shown = (path: SszPath) => JSON.stringify(path);
