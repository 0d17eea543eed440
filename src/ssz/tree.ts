import {
  type BranchNode,
  getNode,
  getNodesAtDepth,
  type Node,
  packedNodeRootsToBytes,
} from "@chainsafe/persistent-merkle-tree";
import {
  type BasicType,
  type ByteViews,
  type CompositeTypeAny,
  ContainerNodeStructType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  ProgressiveContainerType,
  ProgressiveListBasicType,
  ProgressiveListCompositeType,
  type Type,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";

/** Size of an SSZ offset. */
export const OFFSET_BYTES = 4;

const LEAF_BYTES = 32;

/** Looking up nodes in batches is cheaper. */
const NODES_AT_ONCE = 512;

type Fields = Record<string, Type<unknown>>;

export type Container = ContainerType<Fields> | ProgressiveContainerType<Fields>;

/** Several elements share a leaf. */
export type BasicArray =
  | ListBasicType<BasicType<unknown>>
  | VectorBasicType<BasicType<unknown>>
  | ProgressiveListBasicType<BasicType<unknown>>;

export type CompositeArray =
  | ListCompositeType<CompositeTypeAny>
  | VectorCompositeType<CompositeTypeAny>
  | ProgressiveListCompositeType<CompositeTypeAny>;

export type ArrayOfElements = BasicArray | CompositeArray;

export function isContainer(type: Type<unknown>): type is Container {
  return type instanceof ContainerType || type instanceof ProgressiveContainerType;
}

/** False for a container stored as a plain object in one node, such as a validator. */
export function hasFieldNodes(type: Type<unknown>): type is Container {
  return isContainer(type) && !(type instanceof ContainerNodeStructType);
}

export function isArray(type: Type<unknown>): type is ArrayOfElements {
  return isBasicArray(type) || isCompositeArray(type);
}

export function isBasicArray(type: Type<unknown>): type is BasicArray {
  return type instanceof ListBasicType || type instanceof VectorBasicType || type instanceof ProgressiveListBasicType;
}

function isCompositeArray(type: Type<unknown>): type is CompositeArray {
  return (
    type instanceof ListCompositeType ||
    type instanceof VectorCompositeType ||
    type instanceof ProgressiveListCompositeType
  );
}

/** True if the elements have variable size. */
export function isOfVariableSize(type: ArrayOfElements): type is CompositeArray {
  return type.elementType.fixedSize === null;
}

/** Consecutive elements of an array. */
export interface Run {
  /** SSZ length. */
  readonly length: number;
  serialize(output: ByteViews, offset: number): void;
}

/** Iterates over an array with fixed-size elements in runs of about `length` bytes. */
export function* fixedSizeRuns(type: ArrayOfElements, node: Node, length: number): Generator<Run, void, undefined> {
  if (isBasicArray(type)) yield* leafRuns(type, node, length);
  else yield* elementRuns(type, node, length);
}

function* leafRuns(type: BasicArray, node: Node, length: number): Generator<Run, void, undefined> {
  let remaining = serializedLength(type, node);
  for (const leaves of nodeRuns(type, node, Math.ceil(length / LEAF_BYTES))) {
    const size = Math.min(remaining, leaves.length * LEAF_BYTES);
    yield {
      length: size,
      serialize: ({ dataView }, offset) => packedNodeRootsToBytes(dataView, offset, size, leaves),
    };
    remaining -= size;
  }
}

function* elementRuns(type: CompositeArray, node: Node, length: number): Generator<Run, void, undefined> {
  const { elementType } = type;
  const elementLength = elementType.fixedSize!;
  for (const nodes of nodeRuns(type, node, Math.ceil(length / elementLength))) {
    yield {
      length: nodes.length * elementLength,
      serialize: (output, offset) => {
        let at = offset;
        for (const element of nodes) at = elementType.tree_serializeToBytes(output, at, element);
      },
    };
  }
}

/** Iterates over the nodes of a composite array. */
export function* elementNodes(type: ArrayOfElements, node: Node): Generator<Node, void, undefined> {
  for (const nodes of nodeRuns(type, node, NODES_AT_ONCE)) yield* nodes;
}

/**
 * Iterates over the nodes of an array, at most `count` at a time: leaves for basic elements, otherwise one node per
 * element.
 */
function* nodeRuns(type: ArrayOfElements, node: Node, count: number): Generator<Node[], void, undefined> {
  const chunksNode = type.tree_getChunksNode(node);
  const all = Math.ceil(type.tree_getLength(node) / type.itemsPerChunk);
  if (!isProgressive(type)) {
    yield* runsAtDepth(chunksNode, type.chunkDepth, all, count);
    return;
  }
  // Progressive list: subtrees of 1, 4, 16, … chunks, each to the left of the rest.
  let subtree = chunksNode as BranchNode;
  for (let [depth, remaining] = [0, all]; remaining > 0; depth += 2, subtree = subtree.right as BranchNode) {
    yield* runsAtDepth(subtree.left, depth, Math.min(2 ** depth, remaining), count);
    remaining -= 2 ** depth;
  }
}

/** Returns nodes of an array: leaves for basic elements, otherwise one node per element. */
export function nodesBetween(type: ArrayOfElements, node: Node, from: number, to: number): Node[] {
  const chunksNode = type.tree_getChunksNode(node);
  if (!isProgressive(type)) return getNodesAtDepth(chunksNode, type.chunkDepth, from, to - from);
  const nodes: Node[] = [];
  let subtree = chunksNode as BranchNode;
  for (let [depth, first] = [0, 0]; first < to; depth += 2, subtree = subtree.right as BranchNode) {
    const start = Math.max(from, first);
    const end = Math.min(to, first + 2 ** depth);
    if (start < end) nodes.push(...getNodesAtDepth(subtree.left, depth, start - first, end - start));
    first += 2 ** depth;
  }
  return nodes;
}

export function isProgressive(type: ArrayOfElements): boolean {
  return type instanceof ProgressiveListBasicType || type instanceof ProgressiveListCompositeType;
}

function* runsAtDepth(node: Node, depth: number, all: number, count: number): Generator<Node[], void, undefined> {
  for (let start = 0; start < all; start += count) {
    yield getNodesAtDepth(node, depth, start, Math.min(count, all - start));
  }
}

/** Returns the SSZ length, without visiting lists with fixed-size elements. */
export function serializedLength(type: Type<unknown>, node: Node): number {
  if (type.fixedSize !== null) return type.fixedSize;
  if (isArray(type) && !isOfVariableSize(type)) return type.tree_getLength(node) * type.elementType.fixedSize!;
  if (!hasFieldNodes(type)) return type.tree_serializedSize(node);
  return type.fieldsEntries.reduce((sum, { fieldType, gindex }) => {
    const length = serializedLength(fieldType, getNode(node, gindex));
    return sum + length + (fieldType.fixedSize === null ? OFFSET_BYTES : 0);
  }, 0);
}
