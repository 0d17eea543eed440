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
  ProgressiveBitListType,
  ProgressiveByteListType,
  ProgressiveContainerType,
  type Type,
  UintNumberType,
} from "@chainsafe/ssz";
import { invalidParams } from "../../errors/failure.ts";
import { nearestName } from "../../errors/nearest-name.ts";
import { parseUint64 } from "../params/scalars.ts";
import { describeValue } from "../params/schema.ts";

/** A path in an SSZ object, made of field names in snake_case and indices into lists and vectors. */
export type SszPath = readonly (string | number)[];

/** A node in an object's Merkle tree. */
export interface ResolvedNode {
  readonly gindex: Gindex;
  readonly node: Node;
}

/** The value at a path. Packed basic values share a leaf, in which they are located by offset. */
export interface ResolvedValue extends ResolvedNode {
  readonly type: Type<unknown>;
  /** Index of the value's first byte in its leaf. Undefined if the node is the value's hash tree root. */
  readonly offset?: number;
  /** Position of a bit in that byte, counted from the least significant bit. */
  readonly bit?: number;
}

/** An SSZ object whose parts can be proven. */
export interface SszObject {
  readonly type: CompositeTypeAny;
  readonly node: Node;
  /** The object's name in error messages: "state" or "block". */
  readonly noun: string;
  readonly fork: string;
  /** Returns the object's types by fork, in fork order. */
  typesByFork(): ReadonlyMap<string, Type<unknown>>;
}

type AnyContainer =
  | ContainerType<Record<string, Type<unknown>>>
  | ProgressiveContainerType<Record<string, Type<unknown>>>;

const CONTENTS_GINDEX = 2n;
const LENGTH_GINDEX = 3n;
/** The specification uses the name `__len__` (ssz/merkle-proofs.md). */
const LENGTH_NAMES: readonly unknown[] = ["length", "__len__"];
const BYTES_IN_LEAF = 32;

const bitType = new BooleanType();
const byteType = new UintNumberType(1);
const lengthType = new UintNumberType(8);

/**
 * Resolves a path to its value. If the path does not exist, throws an "invalid params" error that lists the valid next
 * steps.
 */
export function resolvePath(object: SszObject, path: SszPath): ResolvedValue {
  let resolved: ResolvedValue = { type: object.type, node: object.node, gindex: 1n };
  for (const [position, step] of path.entries()) {
    resolved = stepInto(object, resolved, path.slice(0, position), step);
  }
  return resolved;
}

function stepInto(object: SszObject, parent: ResolvedValue, prefix: SszPath, step: string | number): ResolvedValue {
  const { type } = parent;
  if (isContainer(type)) {
    const field = findField(type, step);
    if (field === undefined) throw unknownField(object, type, prefix, step);
    return child(parent, field.gindex, field.fieldType);
  }
  if (isList(type) && LENGTH_NAMES.includes(step)) return { ...child(parent, LENGTH_GINDEX, lengthType), offset: 0 };
  const elements = elementsOf(type, parent.node);
  if (elements === undefined) {
    throw invalidParams(
      `${formatPath(prefix)} is a single value, so the path cannot continue with ${describeValue(step)}.`,
    );
  }
  return elementAt(parent, elements, prefix, step);
}

/** The elements of a list or vector. */
interface Elements {
  readonly type: Type<unknown>;
  readonly length: number;
  readonly perLeaf: number;
}

function elementsOf(type: Type<unknown>, node: Node): Elements | undefined {
  if (type instanceof ArrayType) {
    const { elementType, itemsPerChunk } = type as ArrayType<Type<unknown>, unknown, unknown>;
    return { type: elementType, length: type.tree_getLength(node), perLeaf: itemsPerChunk };
  }
  if (type instanceof BitArrayType) {
    const length = type instanceof BitVectorType ? type.lengthBits : readLength(node);
    return { type: bitType, length, perLeaf: 8 * BYTES_IN_LEAF };
  }
  if (type instanceof ByteArrayType) {
    const length = type instanceof ByteVectorType ? type.lengthBytes : readLength(node);
    return { type: byteType, length, perLeaf: BYTES_IN_LEAF };
  }
  return undefined;
}

const readLength = (node: Node): number => lengthType.tree_getFromNode(node.right as LeafNode);

function elementAt(parent: ResolvedValue, elements: Elements, prefix: SszPath, step: string | number): ResolvedValue {
  const { length, perLeaf } = elements;
  const index = parseUint64(step);
  if (index === undefined || !(index < length)) throw noSuchElement(parent.type, length, prefix, step);
  const type = parent.type as CompositeTypeAny;
  const gindex = type.getPropertyGindex(index) ?? gindexOfLeaf(type, Math.floor(index / perLeaf));
  const resolved = child(parent, gindex, elements.type);
  if (!isBasicType(elements.type)) return resolved;
  const positionInLeaf = index % perLeaf;
  if (elements.type === bitType) return { ...resolved, offset: positionInLeaf >> 3, bit: positionInLeaf & 7 };
  return { ...resolved, offset: positionInLeaf * elements.type.byteLength };
}

/** Returns the generalized index of a leaf of bits or bytes. */
function gindexOfLeaf(type: CompositeTypeAny, leaf: number): Gindex {
  if (!(type instanceof ProgressiveBitListType || type instanceof ProgressiveByteListType)) {
    return toGindex(type.depth, BigInt(leaf));
  }
  // Subtrees of 1, 4, 16, … leaves, each to the left of the rest (ssz/simple-serialize.md, merkleize_progressive).
  let first = 0;
  let size = 1;
  let rest = CONTENTS_GINDEX;
  for (; leaf >= first + size; size *= 4) {
    first += size;
    rest = 2n * rest + 1n;
  }
  return 2n * rest * BigInt(size) + BigInt(leaf - first);
}

function child(parent: ResolvedNode, gindex: Gindex, type: Type<unknown>): ResolvedValue {
  const resolved = { gindex: concatGindices([parent.gindex, gindex]), node: getNode(parent.node, gindex), type };
  return isBasicType(type) ? { ...resolved, offset: 0 } : resolved;
}

/** Resolves a generalized index to its node. Throws an "invalid params" error if the index is below a leaf. */
export function resolveGindex({ node: root, noun }: Pick<SszObject, "node" | "noun">, gindex: Gindex): ResolvedNode {
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

/** Returns a value as JSON, or null if its SSZ is larger than `maxBytes`. */
export function readSmallValue({ type, node, offset, bit }: ResolvedValue, maxBytes: number): unknown {
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

function findField(type: AnyContainer, name: string | number) {
  return type.fieldsEntries.find(({ jsonKey }) => jsonKey === name);
}

function unknownField(object: SszObject, type: AnyContainer, prefix: SszPath, step: string | number) {
  const { noun, fork } = object;
  const where = prefix.length === 0 ? `${fork} ${noun}s` : formatPath(prefix);
  const problem = `There is no field ${typeof step === "number" ? step : describeValue(step)} in ${where}`;
  const otherForks = describeForksWith(object, [...prefix, step]);
  if (otherForks !== undefined) return invalidParams(`${problem}: ${otherForks}.`);
  const names = type.fieldsEntries.map(({ jsonKey }) => jsonKey);
  const similar = nearestName(String(step), names);
  const hint = similar === undefined ? "" : ` Did you mean "${similar}"?`;
  return invalidParams(`${problem}.${hint} Its fields are ${names.join(", ")}.`);
}

/** Describes the other forks in which the path exists. Returns undefined if there are none. */
function describeForksWith(object: SszObject, path: SszPath): string | undefined {
  const types = object.typesByFork();
  const forks = [...types.keys()];
  const forksWithPath = forks.filter((fork) => hasPath(types.get(fork)!, path));
  const [first] = forksWithPath;
  const last = forksWithPath.at(-1);
  if (first === undefined) return undefined;
  if (last === forks.at(-1)) return `it was introduced in ${first}`;
  return first === forks[0] ? `it exists only up to ${last}` : `it exists only from ${first} to ${last}`;
}

/** Returns true if the path exists in the type for some length of the lists in it. */
function hasPath(root: Type<unknown>, path: SszPath): boolean {
  let type: Type<unknown> | undefined = root;
  for (const step of path) {
    if (type === undefined) return false;
    if (isContainer(type)) type = findField(type, step)?.fieldType;
    else type = type instanceof ArrayType ? (type.elementType as Type<unknown>) : undefined;
  }
  return type !== undefined;
}

function noSuchElement(type: Type<unknown>, length: number, prefix: SszPath, step: string | number) {
  const lengthName = isList(type) ? ` or "length"` : "";
  if (length === 0) {
    return invalidParams(
      `${formatPath(prefix)} is an empty list: only its "length" can be proven, but ${describeValue(step)} was given.`,
    );
  }
  return invalidParams(
    `${formatPath(prefix)} has ${length} elements: the path must continue with an index from 0 to ${length - 1}${lengthName}, ` +
      `but ${describeValue(step)} was given.`,
  );
}

const formatPath = (path: SszPath) => JSON.stringify(path);
