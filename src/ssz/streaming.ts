import { getNode, type Node } from "@chainsafe/persistent-merkle-tree";
import type { ByteViews, CompositeTypeAny, Type } from "@chainsafe/ssz";
import { TimeSlice, yieldToEventLoop } from "../async/time-slice.ts";
import {
  type ArrayOfElements,
  type CompositeArray,
  type Container,
  elementNodes,
  fixedSizeRuns,
  hasFieldNodes,
  isArray,
  isOfVariableSize,
  OFFSET_BYTES,
  serializedLength,
} from "./tree.ts";

/** Serializing a chunk of this size takes about a millisecond. */
const CHUNK_BYTES = 256 * 1024;

type TakeBuffer = () => Buffer;

const newBuffer: TakeBuffer = () => Buffer.allocUnsafeSlow(CHUNK_BYTES);

/** Values up to this size are serialized in one step. */
const AT_ONCE_BYTES = 4096;

const RUN_BYTES = 32 * 1024;

/**
 * Serializes a tree in chunks, so that callers can yield in between and never hold the whole output. The chunks add up
 * to `serializedLength` bytes and are allocated by `takeBuffer`.
 */
export function* sszChunks(
  type: CompositeTypeAny,
  node: Node,
  takeBuffer = newBuffer,
): Generator<Buffer, void, undefined> {
  const chunk = new Chunk(takeBuffer);
  yield* serialize(type, node, chunk);
  if (chunk.at > 0) yield chunk.written;
}

/** Serializes a tree in time slices. */
export async function serializeInSlices(type: CompositeTypeAny, node: Node): Promise<Uint8Array> {
  const bytes = new Uint8Array(serializedLength(type, node));
  const slice = new TimeSlice();
  let at = 0;
  for (const chunk of sszChunks(type, node)) {
    bytes.set(chunk, at);
    at += chunk.length;
    await slice.yieldIfDue();
  }
  return bytes;
}

/** Serializes a tree in chunks, each in its own turn of the event loop. */
export async function* streamSsz(
  type: CompositeTypeAny,
  node: Node,
  takeBuffer = newBuffer,
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = sszChunks(type, node, takeBuffer);
  for (;;) {
    await yieldToEventLoop();
    const next = chunks.next();
    if (next.done) return;
    yield next.value;
  }
}

/** The chunk being written. */
class Chunk implements ByteViews {
  readonly #takeBuffer: TakeBuffer;
  uint8Array: Buffer;
  dataView: DataView;
  at = 0;

  constructor(takeBuffer: TakeBuffer) {
    this.#takeBuffer = takeBuffer;
    this.uint8Array = takeBuffer();
    this.dataView = viewOf(this.uint8Array);
  }

  get written(): Buffer {
    return this.uint8Array.subarray(0, this.at);
  }

  hasRoom(length: number): boolean {
    return this.uint8Array.length - this.at >= length;
  }

  /** Returns the finished chunk, and starts a new one with the given capacity. */
  renew(length: number): Buffer {
    const { written } = this;
    const buffer = this.#takeBuffer();
    this.uint8Array = buffer.length >= length ? buffer : Buffer.allocUnsafeSlow(length);
    this.dataView = viewOf(this.uint8Array);
    this.at = 0;
    return written;
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

function* serialize(type: Type<unknown>, node: Node, chunk: Chunk): Generator<Buffer, void, undefined> {
  const length = serializedLength(type, node);
  if (length > AT_ONCE_BYTES && hasFieldNodes(type)) {
    yield* serializeContainer(type, node, chunk);
  } else if (length > AT_ONCE_BYTES && isArray(type)) {
    if (isOfVariableSize(type)) yield* serializeOfVariableSize(type, node, chunk);
    else yield* serializeOfFixedSize(type, node, chunk);
  } else {
    if (!chunk.hasRoom(length)) yield chunk.renew(length);
    chunk.at = type.tree_serializeToBytes(chunk, chunk.at, node);
  }
}

/** Serializes fixed-size fields and offsets, then variable-size fields. */
function* serializeContainer(type: Container, node: Node, chunk: Chunk): Generator<Buffer, void, undefined> {
  const fields = type.fieldsEntries.map(({ fieldType, gindex }) => ({ type: fieldType, node: getNode(node, gindex) }));
  const variable = fields.filter((field) => field.type.fixedSize === null);
  let offset = fields.reduce((sum, field) => sum + (field.type.fixedSize ?? OFFSET_BYTES), 0);
  for (const field of fields) {
    if (field.type.fixedSize !== null) {
      yield* serialize(field.type, field.node, chunk);
    } else {
      yield* writeOffset(offset, chunk);
      offset += serializedLength(field.type, field.node);
    }
  }
  for (const field of variable) yield* serialize(field.type, field.node, chunk);
}

function* serializeOfFixedSize(type: ArrayOfElements, node: Node, chunk: Chunk): Generator<Buffer, void, undefined> {
  for (const run of fixedSizeRuns(type, node, RUN_BYTES)) {
    if (!chunk.hasRoom(run.length)) yield chunk.renew(run.length);
    run.serialize(chunk, chunk.at);
    chunk.at += run.length;
  }
}

function* serializeOfVariableSize(type: CompositeArray, node: Node, chunk: Chunk): Generator<Buffer, void, undefined> {
  let offset = type.tree_getLength(node) * OFFSET_BYTES;
  for (const element of elementNodes(type, node)) {
    yield* writeOffset(offset, chunk);
    offset += serializedLength(type.elementType, element);
  }
  for (const element of elementNodes(type, node)) yield* serialize(type.elementType, element, chunk);
}

function* writeOffset(offset: number, chunk: Chunk): Generator<Buffer, void, undefined> {
  if (!chunk.hasRoom(OFFSET_BYTES)) yield chunk.renew(OFFSET_BYTES);
  chunk.dataView.setUint32(chunk.at, offset, true);
  chunk.at += OFFSET_BYTES;
}
