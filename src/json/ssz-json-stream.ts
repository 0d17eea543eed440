import { getNode, getNodesAtDepth, type LeafNode, type Node } from "@chainsafe/persistent-merkle-tree";
import {
  type BasicType,
  type CompositeTypeAny,
  ContainerNodeStructType,
  ContainerType,
  isBasicType,
  ListBasicType,
  ListCompositeType,
  ProgressiveContainerType,
  type Type,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";
import { arrayPieces, streamPieces } from "./encode.ts";

/** Elements turned to text at a time: few enough that one slice never holds the event loop for long. */
const COMPOSITE_SLICE = 64;
const BASIC_SLICE_CHUNKS = 512;

type BasicArray = ListBasicType<BasicType<unknown>> | VectorBasicType<BasicType<unknown>>;
type CompositeArray = ListCompositeType<CompositeTypeAny> | VectorCompositeType<CompositeTypeAny>;

/**
 * The JSON of an SSZ tree, byte for byte what `JSON.stringify(type.toJson(value))` gives, in chunks and without ever
 * holding the whole value: containers go field by field, lists in slices.
 */
export function streamSszJson(type: CompositeTypeAny, node: Node): AsyncGenerator<Buffer, void, undefined> {
  return streamPieces(jsonPieces(type, node));
}

function* jsonPieces(type: Type<unknown>, node: Node): Generator<string, void, undefined> {
  if (isBasicType(type)) {
    yield JSON.stringify(type.toJson(type.tree_getFromNode(node as LeafNode)));
  } else if (isContainer(type)) {
    yield* containerPieces(type, node);
  } else if (type instanceof ListBasicType || type instanceof VectorBasicType) {
    yield* arrayPieces(basicSlices(type, node));
  } else if (type instanceof ListCompositeType || type instanceof VectorCompositeType) {
    yield* arrayPieces(compositeSlices(type, node));
  } else {
    const whole = type as CompositeTypeAny;
    yield JSON.stringify(whole.toJson(whole.tree_toValue(node)));
  }
}

/** A container kept as a plain object in one node (a validator) has no subtree to walk: it is written whole. */
function isContainer(
  type: Type<unknown>,
): type is ContainerType<Record<string, Type<unknown>>> | ProgressiveContainerType<Record<string, Type<unknown>>> {
  return (
    (type instanceof ContainerType && !(type instanceof ContainerNodeStructType)) ||
    type instanceof ProgressiveContainerType
  );
}

function* containerPieces(
  type: ContainerType<Record<string, Type<unknown>>> | ProgressiveContainerType<Record<string, Type<unknown>>>,
  node: Node,
): Generator<string, void, undefined> {
  let separator = "{";
  for (const { fieldType, jsonKey, gindex } of type.fieldsEntries) {
    yield `${separator}${JSON.stringify(jsonKey)}:`;
    yield* jsonPieces(fieldType, getNode(node, gindex));
    separator = ",";
  }
  yield separator === "{" ? "{}" : "}";
}

/** Several basic values share a leaf, so a slice is a number of leaves. */
function* basicSlices(type: BasicArray, node: Node): Generator<unknown[], void, undefined> {
  const { elementType, itemsPerChunk, chunkDepth } = type;
  const length = type.tree_getLength(node);
  const chunksNode = type.tree_getChunksNode(node);
  const leafCount = Math.ceil(length / itemsPerChunk);
  for (let start = 0; start < leafCount; start += BASIC_SLICE_CHUNKS) {
    const leaves = getNodesAtDepth(chunksNode, chunkDepth, start, Math.min(BASIC_SLICE_CHUNKS, leafCount - start));
    const slice: unknown[] = [];
    for (const [position, leaf] of leaves.entries()) {
      const inLeaf = Math.min(itemsPerChunk, length - (start + position) * itemsPerChunk);
      for (let item = 0; item < inLeaf; item++) {
        slice.push(elementType.toJson(elementType.tree_getFromPackedNode(leaf as LeafNode, item)));
      }
    }
    yield slice;
  }
}

function* compositeSlices(type: CompositeArray, node: Node): Generator<unknown[], void, undefined> {
  const { elementType, chunkDepth } = type;
  const length = type.tree_getLength(node);
  const chunksNode = type.tree_getChunksNode(node);
  for (let start = 0; start < length; start += COMPOSITE_SLICE) {
    const nodes = getNodesAtDepth(chunksNode, chunkDepth, start, Math.min(COMPOSITE_SLICE, length - start));
    yield nodes.map((element) => elementType.toJson(elementType.tree_toValue(element)));
  }
}
