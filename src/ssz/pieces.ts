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

/** A piece of this size is made in about a millisecond. */
const PIECE_BYTES = 256 * 1024;

type TakeBuffer = () => Buffer;

const newBuffer: TakeBuffer = () => Buffer.allocUnsafeSlow(PIECE_BYTES);

/** Values of up to this size are serialized at once. */
const AT_ONCE_BYTES = 4096;

const RUN_BYTES = 32 * 1024;

/**
 * What `type` serializes of a tree, byte for byte, in pieces: whoever takes them can give way to others in between, and never
 * holds the whole. `serializedLength` says how much it will be. `takeBuffer` gives the buffers for the pieces.
 */
export function* sszPieces(
  type: CompositeTypeAny,
  node: Node,
  takeBuffer = newBuffer,
): Generator<Buffer, void, undefined> {
  const piece = new Piece(takeBuffer);
  yield* serialize(type, node, piece);
  if (piece.at > 0) yield piece.written;
}

/** All of them together, without holding up anybody else for long. */
export async function serializeInSlices(type: CompositeTypeAny, node: Node): Promise<Uint8Array> {
  const bytes = new Uint8Array(serializedLength(type, node));
  const slice = new TimeSlice();
  let at = 0;
  for (const piece of sszPieces(type, node)) {
    bytes.set(piece, at);
    at += piece.length;
    await slice.yieldIfDue();
  }
  return bytes;
}

/** The same pieces, each made in a turn of the event loop of its own. */
export async function* streamSsz(
  type: CompositeTypeAny,
  node: Node,
  takeBuffer = newBuffer,
): AsyncGenerator<Buffer, void, undefined> {
  const pieces = sszPieces(type, node, takeBuffer);
  for (;;) {
    await yieldToEventLoop();
    const next = pieces.next();
    if (next.done) return;
    yield next.value;
  }
}

/** The bytes that are being written. */
class Piece implements ByteViews {
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

  /** Begins another one with room for that much, and gives what was written. */
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

function* serialize(type: Type<unknown>, node: Node, piece: Piece): Generator<Buffer, void, undefined> {
  const length = serializedLength(type, node);
  if (length > AT_ONCE_BYTES && hasFieldNodes(type)) {
    yield* serializeContainer(type, node, piece);
  } else if (length > AT_ONCE_BYTES && isArray(type)) {
    if (isOfVariableSize(type)) yield* serializeOfVariableSize(type, node, piece);
    else yield* serializeOfFixedSize(type, node, piece);
  } else {
    if (!piece.hasRoom(length)) yield piece.renew(length);
    piece.at = type.tree_serializeToBytes(piece, piece.at, node);
  }
}

/** Fields of a fixed size in their order, with offsets in the place of the others, and then those. */
function* serializeContainer(type: Container, node: Node, piece: Piece): Generator<Buffer, void, undefined> {
  const fields = type.fieldsEntries.map(({ fieldType, gindex }) => ({ type: fieldType, node: getNode(node, gindex) }));
  const variable = fields.filter((field) => field.type.fixedSize === null);
  let offset = fields.reduce((sum, field) => sum + (field.type.fixedSize ?? OFFSET_BYTES), 0);
  for (const field of fields) {
    if (field.type.fixedSize !== null) {
      yield* serialize(field.type, field.node, piece);
    } else {
      yield* writeOffset(offset, piece);
      offset += serializedLength(field.type, field.node);
    }
  }
  for (const field of variable) yield* serialize(field.type, field.node, piece);
}

function* serializeOfFixedSize(type: ArrayOfElements, node: Node, piece: Piece): Generator<Buffer, void, undefined> {
  for (const run of fixedSizeRuns(type, node, RUN_BYTES)) {
    if (!piece.hasRoom(run.length)) yield piece.renew(run.length);
    run.serialize(piece, piece.at);
    piece.at += run.length;
  }
}

function* serializeOfVariableSize(type: CompositeArray, node: Node, piece: Piece): Generator<Buffer, void, undefined> {
  let offset = type.tree_getLength(node) * OFFSET_BYTES;
  for (const element of elementNodes(type, node)) {
    yield* writeOffset(offset, piece);
    offset += serializedLength(type.elementType, element);
  }
  for (const element of elementNodes(type, node)) yield* serialize(type.elementType, element, piece);
}

function* writeOffset(offset: number, piece: Piece): Generator<Buffer, void, undefined> {
  if (!piece.hasRoom(OFFSET_BYTES)) yield piece.renew(OFFSET_BYTES);
  piece.dataView.setUint32(piece.at, offset, true);
  piece.at += OFFSET_BYTES;
}
