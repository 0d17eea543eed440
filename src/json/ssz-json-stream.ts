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
import { FlatForm } from "./flat-form.ts";
import { jsonFormOf } from "./ssz-json.ts";
import { ROOM_BYTES, writtenBuffers } from "./stream-writer.ts";

const OPENING_BRACE = "{".charCodeAt(0);
const CLOSING_BRACE = "}".charCodeAt(0);
const OPENING_BRACKET = "[".charCodeAt(0);
const CLOSING_BRACKET = "]".charCodeAt(0);
const COMMA = ",".charCodeAt(0);

/** Of a value or of elements that are written one after the other. */
const SERIALIZED_BYTES = 32 * 1024;

/** What a writer may write beyond its end stays within the room. */
const AT_ONCE_BYTES = ROOM_BYTES - 16;

interface Tree {
  type: Type<unknown>;
  node: Node;
}

/**
 * The JSON of an SSZ tree, byte for byte what `JSON.stringify(type.toJson(value))` gives, in buffers and without ever
 * holding the whole value: containers go field by field, lists in runs of elements.
 */
export function streamSszJson(type: CompositeTypeAny, node: Node): AsyncGenerator<Buffer, void, undefined> {
  return writtenBuffers(writeTree, { type, node });
}

function* writeTree(tree: Tree, out: ByteWriter): Generator<void, void, void> {
  const bytes = new Uint8Array(2 * SERIALIZED_BYTES);
  yield* write(tree, out, { uint8Array: bytes, dataView: new DataView(bytes.buffer) });
}

/** `serialized` is where the SSZ of what is written next goes. */
function* write({ type, node }: Tree, out: ByteWriter, serialized: ByteViews): Generator<void, void, void> {
  if (serializedLength(type, node) <= SERIALIZED_BYTES) {
    const end = type.tree_serializeToBytes(serialized, 0, node);
    const form = jsonFormOf(type);
    if (form.maxLength(serialized, 0, end) <= AT_ONCE_BYTES) {
      if (out.room < ROOM_BYTES) yield;
      form.write(out, serialized, 0, end);
      return;
    }
  }
  if (hasFieldNodes(type)) yield* writeContainer(type, node, out, serialized);
  else if (isArray(type)) yield* writeArray(type, node, out, serialized);
  else throw new Error(`A value of the type ${type.typeName} is too large to be written at once.`);
}

function writeArray(
  type: ArrayOfElements,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  const form = jsonFormOf(type.elementType);
  return form instanceof FlatForm && form.bound < AT_ONCE_BYTES
    ? writeRuns(type, form, node, out, serialized)
    : writeElements(type, node, out, serialized);
}

function* writeContainer(
  type: Container,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  for (const [index, { fieldType, jsonKey, gindex }] of type.fieldsEntries.entries()) {
    if (out.room < ROOM_BYTES) yield;
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
    if (out.room < ROOM_BYTES) yield;
    out.byte(separator);
    separator = COMMA;
    yield* write({ type: type.elementType, node: element }, out, serialized);
  }
  out.byte(CLOSING_BRACKET);
}

function* writeRuns(
  type: ArrayOfElements,
  form: FlatForm,
  node: Node,
  out: ByteWriter,
  serialized: ByteViews,
): Generator<void, void, void> {
  const elementLength = type.elementType.fixedSize!;
  // As many as fit into the room that there is for sure.
  const portion = Math.floor(AT_ONCE_BYTES / (form.bound + 1)) * elementLength;
  let separator = OPENING_BRACKET;
  for (const run of fixedSizeRuns(type, node, SERIALIZED_BYTES)) {
    run.serialize(serialized, 0);
    for (let at = 0; at < run.length; at += portion) {
      if (out.room < ROOM_BYTES) yield;
      out.byte(separator);
      separator = COMMA;
      form.writeSeveral(out, serialized, at, Math.min(at + portion, run.length));
    }
    yield;
  }
  out.byte(CLOSING_BRACKET);
}
