import { getNode, type Node } from "@chainsafe/persistent-merkle-tree";
import type { ByteViews, CompositeTypeAny, Type } from "@chainsafe/ssz";
import {
  type ArrayOfElements,
  type Container,
  elementNodes,
  fixedSizeRuns,
  hasFieldNodes,
  isArray,
  serializedLength,
} from "../ssz/tree.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { FixedSizeWriter } from "./fixed-size-writer.ts";
import { sszJsonWriterFor } from "./ssz-json.ts";
import { MIN_ROOM_BYTES, streamBuffers } from "./stream-writer.ts";

const OPENING_BRACE = "{".charCodeAt(0);
const CLOSING_BRACE = "}".charCodeAt(0);
const OPENING_BRACKET = "[".charCodeAt(0);
const CLOSING_BRACKET = "]".charCodeAt(0);
const COMMA = ",".charCodeAt(0);

/** Maximum SSZ size of a value or run of elements that is serialized in one go. */
const SERIALIZED_BYTES = 32 * 1024;

/** Maximum JSON size of a single write. Leaves room for the bytes past its end that a write may touch. */
const MAX_WRITE_BYTES = MIN_ROOM_BYTES - 16;

interface Tree {
  type: Type<unknown>;
  node: Node;
}

/**
 * Streams an SSZ tree as JSON, identical to `JSON.stringify(type.toJson(value))`. Never holds the whole value:
 * containers are written field by field, and lists in runs of elements.
 */
export function streamSszJson(type: CompositeTypeAny, node: Node): AsyncGenerator<Buffer, void, undefined> {
  return streamBuffers(writeTree, { type, node });
}

function* writeTree(tree: Tree, out: ByteWriter): Generator<void, void, void> {
  const bytes = new Uint8Array(2 * SERIALIZED_BYTES);
  yield* write(tree, out, { uint8Array: bytes, dataView: new DataView(bytes.buffer) });
}

/** `serialized` is a scratch buffer for SSZ. */
function* write({ type, node }: Tree, out: ByteWriter, serialized: ByteViews): Generator<void, void, void> {
  if (serializedLength(type, node) <= SERIALIZED_BYTES) {
    const end = type.tree_serializeToBytes(serialized, 0, node);
    const writer = sszJsonWriterFor(type);
    if (writer.maxLength(serialized, 0, end) <= MAX_WRITE_BYTES) {
      if (out.room < MIN_ROOM_BYTES) yield;
      writer.write(out, serialized, 0, end);
      return;
    }
  }
  if (hasFieldNodes(type)) yield* writeContainer(type, node, out, serialized);
  else if (isArray(type)) yield* writeArray(type, node, out, serialized);
  else throw new Error(`A value of the SSZ type ${type.typeName} is too large to be written at once.`);
}

function writeArray(
  type: ArrayOfElements,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  const writer = sszJsonWriterFor(type.elementType);
  return writer instanceof FixedSizeWriter && writer.bound < MAX_WRITE_BYTES
    ? writeRuns(type, writer, node, out, serialized)
    : writeElements(type, node, out, serialized);
}

function* writeContainer(
  type: Container,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  for (const [index, { fieldType, jsonKey, gindex }] of type.fieldsEntries.entries()) {
    if (out.room < MIN_ROOM_BYTES) yield;
    out.byte(index === 0 ? OPENING_BRACE : COMMA);
    out.text(`${JSON.stringify(jsonKey)}:`);
    yield* write({ type: fieldType, node: getNode(node, gindex) }, out, serialized);
  }
  out.byte(CLOSING_BRACE);
}

function* writeElements(
  type: ArrayOfElements,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  let separator = OPENING_BRACKET;
  for (const element of elementNodes(type, node)) {
    if (out.room < MIN_ROOM_BYTES) yield;
    out.byte(separator);
    separator = COMMA;
    yield* write({ type: type.elementType, node: element }, out, serialized);
  }
  out.byte(CLOSING_BRACKET);
}

function* writeRuns(
  type: ArrayOfElements,
  writer: FixedSizeWriter,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  const elementLength = type.elementType.fixedSize!;
  // As many elements as fit into the guaranteed room.
  const portion = Math.floor(MAX_WRITE_BYTES / (writer.bound + 1)) * elementLength;
  let separator = OPENING_BRACKET;
  for (const run of fixedSizeRuns(type, node, SERIALIZED_BYTES)) {
    run.serialize(serialized, 0);
    for (let at = 0; at < run.length; at += portion) {
      if (out.room < MIN_ROOM_BYTES) yield;
      out.byte(separator);
      separator = COMMA;
      writer.writeSeveral(out, serialized, at, Math.min(at + portion, run.length));
    }
    yield;
  }
  out.byte(CLOSING_BRACKET);
}
