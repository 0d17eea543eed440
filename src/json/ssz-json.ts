import { BitArrayType, ByteArrayType, type ByteViews, type Type } from "@chainsafe/ssz";
import {
  type ArrayOfElements,
  type CompositeArray,
  type Container,
  isArray,
  isContainer,
  isOfVariableSize,
  OFFSET_BYTES,
} from "../ssz/tree.ts";
import { ByteWriter, type Constant, constant, SPARE_BYTES } from "./byte-writer.ts";
import { countLeaves, FixedSizeWriter } from "./fixed-size-writer.ts";

/** Types with more leaves, such as long vectors, are written in parts. */
const MAX_LEAVES = 100;

/**
 * Writes values of an SSZ type as JSON, reading their SSZ bytes. The output is identical to
 * `JSON.stringify(type.toJson(value))`, except that integers beyond 2^53 are exact.
 */
export interface SszJsonWriter {
  /** Maximum length of any value's JSON. Infinity for a variable-size type. */
  readonly bound: number;
  /** Returns the maximum length of the JSON for these bytes. */
  maxLength(source: ByteViews, start: number, end: number): number;
  write(out: ByteWriter, source: ByteViews, start: number, end: number): void;
}

const QUOTE = '"'.charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const OPENING_BRACKET = "[".charCodeAt(0);
const CLOSING_BRACKET = "]".charCodeAt(0);
const CLOSING_BRACE = "}".charCodeAt(0);
const HEX_START = constant('"0x');

/** Converts a serialized value to JSON. */
export function sszJson(type: Type<unknown>, bytes: Uint8Array): Buffer {
  const source = { uint8Array: bytes, dataView: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const writer = sszJsonWriterFor(type);
  const out = new ByteWriter(Buffer.allocUnsafeSlow(writer.maxLength(source, 0, bytes.length) + SPARE_BYTES));
  writer.write(out, source, 0, bytes.length);
  return out.written;
}

const writers = new WeakMap<Type<unknown>, SszJsonWriter>();

/** Returns the cached writer for a type. */
export function sszJsonWriterFor(type: Type<unknown>): SszJsonWriter {
  const cachedWriter = writers.get(type);
  if (cachedWriter) return cachedWriter;
  const writer = createWriter(type);
  writers.set(type, writer);
  return writer;
}

function createWriter(type: Type<unknown>): SszJsonWriter {
  if (countLeaves(type) <= MAX_LEAVES) return new FixedSizeWriter(type);
  if (type instanceof ByteArrayType || type instanceof BitArrayType) return HEX;
  if (isContainer(type)) return containerWriter(type);
  if (isArray(type)) return isOfVariableSize(type) ? variableSizeListWriter(type) : fixedSizeListWriter(type);
  throw new Error(`Values of the SSZ type ${type.typeName} cannot be written as JSON.`);
}

/** Writes bytes and bit fields of any length. */
const HEX: SszJsonWriter = {
  bound: Number.POSITIVE_INFINITY,
  maxLength: (_source, start, end) => HEX_START.length + 2 * (end - start) + 1,
  write: (out, { uint8Array }, start, end) => {
    out.constant(HEX_START);
    out.hex(uint8Array, start, end - start);
    out.byte(QUOTE);
  },
};

interface Field {
  /** The key, including the preceding separator. */
  key: Constant;
  writer: SszJsonWriter;
  /** Position of the field in the container, or of its offset. */
  position: number;
  size: number | null;
  /** Position of the next offset, where the field's bytes end. Undefined for the last field. */
  next?: number;
}

function containerWriter(type: Container): SszJsonWriter {
  const fields = fieldsOf(type);
  const keysLength = fields.reduce((sum, { key }) => sum + key.length, 0) + 1;
  const bound = fields.reduce((sum, { writer }) => sum + writer.bound, keysLength);

  const startOf = ({ position, size }: Field, view: DataView, start: number) =>
    start + (size === null ? view.getUint32(start + position, true) : position);
  const endOf = ({ position, size, next }: Field, view: DataView, start: number, end: number) => {
    if (size !== null) return start + position + size;
    return next === undefined ? end : start + view.getUint32(start + next, true);
  };

  return {
    bound,
    maxLength: (source, start, end) => {
      if (bound < Number.POSITIVE_INFINITY) return bound;
      const { dataView } = source;
      return fields.reduce((sum, field) => {
        const { writer } = field;
        return sum + writer.maxLength(source, startOf(field, dataView, start), endOf(field, dataView, start, end));
      }, keysLength);
    },
    write: (out, source, start, end) => {
      const { dataView } = source;
      for (const field of fields) {
        out.constant(field.key);
        field.writer.write(out, source, startOf(field, dataView, start), endOf(field, dataView, start, end));
      }
      out.byte(CLOSING_BRACE);
    },
  };
}

function fieldsOf(type: Container): Field[] {
  const fields: Field[] = [];
  let position = 0;
  let previous: Field | undefined;
  for (const [index, { fieldType, jsonKey }] of type.fieldsEntries.entries()) {
    const size = fieldType.fixedSize;
    const key = constant(`${index === 0 ? "{" : ","}${JSON.stringify(jsonKey)}:`);
    const field: Field = { key, writer: sszJsonWriterFor(fieldType), position, size };
    if (size === null) {
      if (previous) previous.next = position;
      previous = field;
    }
    fields.push(field);
    position += size ?? OFFSET_BYTES;
  }
  return fields;
}

function fixedSizeListWriter({ elementType, fixedSize }: ArrayOfElements): SszJsonWriter {
  const writer = sszJsonWriterFor(elementType);
  const elementSize = elementType.fixedSize!;
  const maxLength = (size: number) => (size / elementSize) * (writer.bound + 1) + 2;
  return {
    bound: maxLength(fixedSize ?? Number.POSITIVE_INFINITY),
    maxLength: (_source, start, end) => maxLength(end - start),
    write: (out, source, start, end) => {
      out.byte(OPENING_BRACKET);
      if (writer instanceof FixedSizeWriter) writer.writeSeveral(out, source, start, end);
      else writeOneByOne(writer, elementSize, out, source, start, end);
      out.byte(CLOSING_BRACKET);
    },
  };
}

function writeOneByOne(
  writer: SszJsonWriter,
  size: number,
  out: ByteWriter,
  source: ByteViews,
  start: number,
  end: number,
): void {
  for (let at = start; at < end; at += size) {
    if (at > start) out.byte(COMMA);
    writer.write(out, source, at, at + size);
  }
}

function variableSizeListWriter({ elementType }: CompositeArray): SszJsonWriter {
  const writer = sszJsonWriterFor(elementType);
  return {
    bound: Number.POSITIVE_INFINITY,
    maxLength: (source, start, end) => {
      let length = 2;
      forEachRange(source.dataView, start, end, (from, to) => {
        length += writer.maxLength(source, from, to) + 1;
      });
      return length;
    },
    write: (out, source, start, end) => {
      out.byte(OPENING_BRACKET);
      forEachRange(source.dataView, start, end, (from, to, index) => {
        if (index > 0) out.byte(COMMA);
        writer.write(out, source, from, to);
      });
      out.byte(CLOSING_BRACKET);
    },
  };
}

/** Calls `use` with the byte range of each element. The first offset determines the number of elements. */
function forEachRange(
  view: DataView,
  start: number,
  end: number,
  use: (from: number, to: number, index: number) => void,
): void {
  if (start === end) return;
  const count = view.getUint32(start, true) / OFFSET_BYTES;
  let from = start + view.getUint32(start, true);
  for (let index = 0; index < count; index++) {
    const to = index + 1 < count ? start + view.getUint32(start + (index + 1) * OFFSET_BYTES, true) : end;
    use(from, to, index);
    from = to;
  }
}
