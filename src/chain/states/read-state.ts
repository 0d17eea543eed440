import {
  BranchNode,
  LeafNode,
  type Node,
  packedRootsBytesToLeafNodes,
  subtreeFillToContents,
} from "@chainsafe/persistent-merkle-tree";
import {
  ByteVectorType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  type Type,
  VectorCompositeType,
} from "@chainsafe/ssz";
import type { ForkAll } from "@lodestar/params";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { type SSZTypesFor, ssz } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import { VALIDATOR_BYTES } from "../../ssz/validator-layout.ts";
import { type HashedNodes, hashedSubtree, ROOT_BYTES } from "./hashed-subtree.ts";
import { readValidators } from "./packed-registry.ts";

/** Depth of the subtrees that are read at a time. */
const CHUNK_DEPTH = 12;

/** Reports progress in bytes. */
export type OnRead = (done: number, total: number) => void;

/** A long list or vector, with the layout of its leaves. */
interface LongArray {
  /** Vectors have no limit. */
  type: { limit?: number; chunkDepth: number; typeName: string };
  elementBytes: number;
  leafBytes: number;
  readLeaves(bytes: Uint8Array): HashedNodes;
}

/**
 * Deserializes a state in time slices. Equivalent to the library's result, except that long fields are already hashed
 * in batches and validators stay packed. Does not retain `bytes`.
 */
export async function readState(
  type: SSZTypesFor<ForkAll, "BeaconState">,
  bytes: Uint8Array,
  onRead?: OnRead,
): Promise<BeaconStateAllForks> {
  // State types of later forks have a different tree structure.
  if (!(type instanceof ContainerType)) return type.deserializeToViewDU(bytes);
  const data = { uint8Array: bytes, dataView: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  const ranges = type.getFieldRanges(data.dataView, 0, bytes.length);
  const slice = new TimeSlice();
  const tick = (done: number) => {
    onRead?.(done, bytes.length);
    return slice.yieldIfDue();
  };
  const fields: Node[] = [];
  let bytesRead = 0;
  for (const [index, { fieldType }] of type.fieldsEntries.entries()) {
    const { start, end } = ranges[index]!;
    const array = asLongArray(fieldType);
    fields.push(
      array
        ? await readArray(array, bytes.subarray(start, end), (done) => tick(bytesRead + done))
        : fieldType.tree_deserializeFromBytes(data, start, end),
    );
    bytesRead += end - start;
    await tick(bytesRead);
  }
  return type.getViewDU(subtreeFillToContents(fields, type.depth)) as BeaconStateAllForks;
}

function asLongArray(type: Type<unknown>): LongArray | undefined {
  if (type instanceof ListBasicType) {
    return { type, elementBytes: type.elementType.byteLength, leafBytes: ROOT_BYTES, readLeaves: readPacked };
  }
  if (type instanceof ListCompositeType && type.elementType === ssz.phase0.Validator) {
    return { type, elementBytes: VALIDATOR_BYTES, leafBytes: VALIDATOR_BYTES, readLeaves: readValidators };
  }
  if ((type instanceof ListCompositeType || type instanceof VectorCompositeType) && isRoot(type.elementType)) {
    return { type, elementBytes: ROOT_BYTES, leafBytes: ROOT_BYTES, readLeaves: readPacked };
  }
  return undefined;
}

function isRoot(type: Type<unknown>): boolean {
  return type instanceof ByteVectorType && type.fixedSize === ROOT_BYTES;
}

async function readArray(
  { type, elementBytes, leafBytes, readLeaves }: LongArray,
  bytes: Uint8Array,
  tick: (done: number) => Promise<void>,
): Promise<Node> {
  const length = bytes.length / elementBytes;
  if (!Number.isInteger(length) || length > (type.limit ?? length)) {
    throw new Error(`invalid length ${bytes.length} of ${type.typeName} with ${elementBytes}-byte elements`);
  }
  const depth = Math.min(CHUNK_DEPTH, type.chunkDepth);
  const chunkBytes = 2 ** depth * leafBytes;
  const chunks: Node[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    const end = Math.min(start + chunkBytes, bytes.length);
    chunks.push(hashedSubtree(readLeaves(bytes.subarray(start, end)), depth));
    await tick(end);
  }
  const roots = Buffer.concat(chunks.map(({ root }) => root));
  const contents = hashedSubtree({ nodes: chunks, roots }, type.chunkDepth - depth, depth);
  return type.limit === undefined ? contents : new BranchNode(contents, LeafNode.fromUint32(length));
}

/** Creates leaves from packed bytes. */
function readPacked(bytes: Uint8Array): HashedNodes {
  const roots = new Uint8Array(Math.ceil(bytes.length / ROOT_BYTES) * ROOT_BYTES);
  roots.set(bytes);
  return { nodes: packedRootsBytesToLeafNodes(new DataView(roots.buffer), 0, bytes.length), roots };
}
