import { getNode, getNodesAtDepth, LeafNode, type Node } from "@chainsafe/persistent-merkle-tree";
import type { Type } from "@chainsafe/ssz";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { TimeSlice } from "../../async/time-slice.ts";
import { MAX_OPERATION_BYTES, PatchWriter, xorInto } from "../../db/patch.ts";
import {
  type BasicArray,
  type CompositeArray,
  type Container,
  fixedSizeRuns,
  isArray,
  isBasicArray,
  isProgressive,
  nodesBetween,
} from "../../ssz/tree.ts";

/** A state field and its node in the tree. */
interface Field {
  type: Type<unknown>;
  node: Node;
  size: number;
}

interface BaseField extends Field {
  /** Raw bytes of number lists. Nearly all of their nodes change every epoch, and bytes need less memory than nodes. */
  numbers?: Uint8Array;
}

/** State that patches refer to. */
export interface PatchBase {
  type: unknown;
  fields: BaseField[];
}

/** Patch that produces the SSZ encoding of a state from a base, or from nothing. */
interface StatePatch {
  /** SSZ size of the state. */
  size: number;
  pieces: AsyncIterable<Uint8Array>;
}

/** Short slices keep the event loop responsive. */
const SLICE_MS = 5;
const OFFSET_BYTES = 4;
const NUMBER_BYTES = 8;
/** Elements processed at a time, as a power of two. */
const GROUP_DEPTH = 10;
/** Bytes of numbers that are read at a time. */
const RUN_BYTES = 2 ** 15;
const PIECE_BYTES = 2 ** 17;

/** Extracts the parts of a state that are needed to create patches to it. */
export async function patchBaseOf(state: BeaconStateAllForks): Promise<PatchBase> {
  const slice = new TimeSlice(SLICE_MS);
  const fields: BaseField[] = [];
  for (const field of fieldsOf(state)) {
    const { type } = field;
    if (!isBasicArray(type)) {
      fields.push(field);
      continue;
    }
    const node = LeafNode.fromHashObject(field.node.rootHashObject);
    fields.push({ ...field, node, numbers: await numbersOf(type, field.node, slice) });
  }
  return { type: state.type, fields };
}

/**
 * Creates the patch that turns the base into a state of the same fork. Without a base, the patch is self-contained.
 * Equal subtrees are found by their roots, so cost and size grow with the number of differences and with the number
 * lists. The patch is computed in slices as it is consumed.
 */
export function statePatch(state: BeaconStateAllForks, base?: PatchBase): StatePatch {
  if (base && base.type !== state.type) throw new Error("Base and state of a patch must be of the same fork.");
  const fields = fieldsOf(state);
  const size = fields.reduce((sum, field) => sum + field.size + (isFixed(field) ? 0 : OFFSET_BYTES), 0);
  return { size, pieces: piecesOf(fields, base?.fields) };
}

async function* piecesOf(fields: readonly Field[], base: readonly BaseField[] | undefined): AsyncGenerator<Uint8Array> {
  const writer = new PatchWriter();
  const slice = new TimeSlice(SLICE_MS);
  const offsets = offsetsOf(fields);
  const baseOffsets = base && offsetsOf(base);
  for (const [index, field] of fields.entries()) {
    if (isFixed(field)) yield* patchField(writer, slice, field, base?.[index]);
    else writeOffset(writer, offsets[index]!, baseOffsets?.[index]);
  }
  for (const [index, field] of fields.entries()) {
    if (!isFixed(field)) yield* patchField(writer, slice, field, base?.[index]);
  }
  yield writer.take();
}

function writeOffset(writer: PatchWriter, offset: number, baseOffset: number | undefined): void {
  if (offset === baseOffset) {
    writer.copy(OFFSET_BYTES);
    return;
  }
  if (baseOffset !== undefined) writer.skip(OFFSET_BYTES);
  const { dataView } = viewsOf(writer.raw(OFFSET_BYTES));
  dataView.setUint32(0, offset, true);
}

async function* patchField(
  writer: PatchWriter,
  slice: TimeSlice,
  field: Field,
  base: BaseField | undefined,
): AsyncGenerator<Uint8Array> {
  const { type } = field;
  if (base && isSame(field.node, base.node)) writer.copy(field.size);
  else if (isBasicArray(type)) yield* patchNumbers(writer, slice, { ...field, type }, base?.numbers);
  else if (isElements(type))
    yield* patchElements(writer, slice, elementsOf(type, field), base && elementsOf(type, base));
  else yield* patchOther(writer, field, base);
}

async function* patchNumbers(
  writer: PatchWriter,
  slice: TimeSlice,
  { type, node }: Field & { type: BasicArray },
  base: Uint8Array | undefined,
): AsyncGenerator<Uint8Array> {
  const numbers = await numbersOf(type, node, slice);
  const common = base ? Math.min(numbers.length, base.length) : numbers.length;
  for (let from = 0; from < common; from += PIECE_BYTES) {
    const [own, others] = [numbers, base].map((bytes) => bytes?.subarray(from, Math.min(from + PIECE_BYTES, common)));
    if (type.elementType.byteLength === NUMBER_BYTES) writer.numbers(own!, others);
    else writeCombined(writer, own!, others);
    yield* full(writer);
    await slice.yieldIfDue();
  }
  writer.skip((base?.length ?? common) - common);
  yield* patchRaw(writer, numbers.subarray(common));
}

function writeCombined(writer: PatchWriter, bytes: Uint8Array, base: Uint8Array | undefined): void {
  const combined = writer.xor(bytes.length);
  combined.set(bytes);
  if (base) xorInto(combined, base);
}

/** List or vector with fixed-size elements. */
interface Elements {
  type: CompositeArray;
  node: Node;
  count: number;
  size: number;
  /** Number of elements that are processed at a time, limited by the size of one patch operation. */
  groupSize: number;
  write(bytes: Uint8Array, node: Node): void;
}

async function* patchElements(
  writer: PatchWriter,
  slice: TimeSlice,
  elements: Elements,
  base: Elements | undefined,
): AsyncGenerator<Uint8Array> {
  const { count, size, groupSize } = elements;
  const removed = base ? await countRemovedFromFront(elements, base, slice) : 0;
  const common = base ? Math.min(count, base.count - removed) : 0;
  writer.skip(removed * size);
  for (let from = 0; from < count; from += groupSize) {
    const to = Math.min(from + groupSize, count);
    if (base && removed === 0 && to <= common && isSameGroup(elements, base, from)) {
      writer.copy((to - from) * size);
    } else {
      const baseNodes = base && common > from ? nodesOf(base, from + removed, Math.min(to, common) + removed) : [];
      patchGroup(writer, elements, nodesOf(elements, from, to), baseNodes);
    }
    yield* full(writer);
    await slice.yieldIfDue();
  }
  if (base) writer.skip((base.count - removed - common) * size);
}

/** Processes elements in runs: copies equal ones, XORs changed ones with the base and appends new ones. */
function patchGroup(writer: PatchWriter, elements: Elements, nodes: readonly Node[], base: readonly Node[]): void {
  const { size, write } = elements;
  const isCopied = (index: number) => isSame(nodes[index]!, base[index]!);
  for (let from = 0; from < nodes.length; ) {
    let to = from + 1;
    if (from >= base.length) {
      to = nodes.length;
      const bytes = writer.raw((to - from) * size);
      for (let at = from; at < to; at++) write(bytes.subarray((at - from) * size), nodes[at]!);
    } else if (isCopied(from)) {
      writer.copy(size);
    } else {
      while (to < base.length && !isCopied(to)) to++;
      const bytes = writer.xor((to - from) * size);
      const baseElement = new Uint8Array(size);
      for (let at = from; at < to; at++) {
        const element = bytes.subarray((at - from) * size, (at - from + 1) * size);
        write(element, nodes[at]!);
        write(baseElement, base[at]!);
        xorInto(element, baseElement);
      }
    }
    from = to;
  }
}

/** Returns the number of elements removed from the front relative to the base, as in a queue. */
async function countRemovedFromFront(elements: Elements, base: Elements, slice: TimeSlice): Promise<number> {
  if (elements.count === 0) return 0;
  const [first] = nodesOf(elements, 0, 1);
  const { groupSize } = base;
  for (let from = 0; from < base.count; from += groupSize) {
    const offset = nodesOf(base, from, Math.min(from + groupSize, base.count)).findIndex((node) =>
      isSame(node, first!),
    );
    if (offset >= 0) return from + offset;
    await slice.yieldIfDue();
  }
  return 0;
}

async function* patchOther(writer: PatchWriter, field: Field, base: BaseField | undefined): AsyncGenerator<Uint8Array> {
  const bytes = new Uint8Array(field.size);
  field.type.tree_serializeToBytes(viewsOf(bytes), 0, field.node);
  writer.skip(base?.size ?? 0);
  yield* patchRaw(writer, bytes);
}

function* patchRaw(writer: PatchWriter, bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    writer.raw(piece.length).set(piece);
    yield* full(writer);
  }
}

function* full(writer: PatchWriter): Generator<Uint8Array> {
  if (writer.length >= PIECE_BYTES) yield writer.take();
}

function fieldsOf(state: BeaconStateAllForks): Field[] {
  state.commit();
  const { fieldsEntries } = state.type as unknown as Container;
  return fieldsEntries.map(({ fieldType: type, gindex }) => {
    const node = getNode(state.node, gindex);
    return { type, node, size: type.fixedSize ?? type.tree_serializedSize(node) };
  });
}

const isFixed = ({ type }: Field) => type.fixedSize !== null;

/** Returns the byte offset of each variable-size field. */
function offsetsOf(fields: readonly Field[]): number[] {
  let next = fields.reduce((sum, field) => sum + (isFixed(field) ? field.size : OFFSET_BYTES), 0);
  return fields.map((field) => {
    const offset = next;
    if (!isFixed(field)) next += field.size;
    return offset;
  });
}

function isElements(type: Type<unknown>): type is CompositeArray {
  if (!isArray(type) || isBasicArray(type)) return false;
  return (type.elementType.fixedSize ?? Number.POSITIVE_INFINITY) <= MAX_OPERATION_BYTES;
}

async function numbersOf(type: BasicArray, node: Node, slice: TimeSlice): Promise<Uint8Array> {
  const bytes = new Uint8Array(type.tree_serializedSize(node));
  const views = viewsOf(bytes);
  let at = 0;
  for (const run of fixedSizeRuns(type, node, RUN_BYTES)) {
    run.serialize(views, at);
    at += run.length;
    await slice.yieldIfDue();
  }
  return bytes;
}

function elementsOf(type: CompositeArray, { node }: Field): Elements {
  const { elementType } = type;
  const size = elementType.fixedSize!;
  const depth = Math.min(GROUP_DEPTH, Math.floor(Math.log2(MAX_OPERATION_BYTES / size)));
  return {
    type,
    node,
    count: type.tree_getLength(node),
    size,
    groupSize: 2 ** (isProgressive(type) ? depth : Math.min(depth, type.chunkDepth)),
    write: (bytes, element) => elementType.tree_serializeToBytes(viewsOf(bytes), 0, element),
  };
}

const nodesOf = ({ type, node }: Elements, from: number, to: number) => nodesBetween(type, node, from, to);

/** Compares groups by their roots. The groups of a progressive list have none, because they are in several subtrees. */
function isSameGroup(elements: Elements, base: Elements, from: number): boolean {
  return !isProgressive(elements.type) && isSame(groupNode(elements, from), groupNode(base, from));
}

/** Returns the root node of a group. */
function groupNode({ type, node, groupSize }: Elements, from: number): Node {
  const depth = type.chunkDepth - Math.log2(groupSize);
  return getNodesAtDepth(type.tree_getChunksNode(node), depth, from / groupSize, 1)[0]!;
}

function isSame(node: Node, other: Node): boolean {
  if (node === other) return true;
  const { h0, h1, h2, h3, h4, h5, h6, h7 } = node.rootHashObject;
  const root = other.rootHashObject;
  return (
    h0 === root.h0 &&
    h1 === root.h1 &&
    h2 === root.h2 &&
    h3 === root.h3 &&
    h4 === root.h4 &&
    h5 === root.h5 &&
    h6 === root.h6 &&
    h7 === root.h7
  );
}

const viewsOf = (bytes: Uint8Array) => ({
  uint8Array: bytes,
  dataView: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
});
