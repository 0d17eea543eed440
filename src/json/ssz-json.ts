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
import { countSteps, FlatForm } from "./flat-form.ts";

/** A type with more of them, as one with a long vector in it, is written part by part. */
const MAX_STEPS = 100;

/**
 * How values of an SSZ type are written as JSON from their SSZ bytes: as `JSON.stringify(type.toJson(value))` writes them,
 * but for integers beyond 2^53, which are exact here.
 */
export interface JsonForm {
  /** How long the JSON of any value of the type is at most; infinite for a type without a fixed size. */
  readonly bound: number;
  /** How long the JSON of these bytes is at most. */
  maxLength(source: ByteViews, start: number, end: number): number;
  write(out: ByteWriter, source: ByteViews, start: number, end: number): void;
}

const QUOTE = '"'.charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const OPENING_BRACKET = "[".charCodeAt(0);
const CLOSING_BRACKET = "]".charCodeAt(0);
const CLOSING_BRACE = "}".charCodeAt(0);
const HEX_START = constant('"0x');

/** The JSON of a serialized value in one go. */
export function sszJson(type: Type<unknown>, bytes: Uint8Array): Buffer {
  const source = { uint8Array: bytes, dataView: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const form = jsonFormOf(type);
  const out = new ByteWriter(Buffer.allocUnsafeSlow(form.maxLength(source, 0, bytes.length) + SPARE_BYTES));
  form.write(out, source, 0, bytes.length);
  return out.written;
}

const forms = new WeakMap<Type<unknown>, JsonForm>();

export function jsonFormOf(type: Type<unknown>): JsonForm {
  const known = forms.get(type);
  if (known) return known;
  const form = makeForm(type);
  forms.set(type, form);
  return form;
}

function makeForm(type: Type<unknown>): JsonForm {
  if (countSteps(type) <= MAX_STEPS) return new FlatForm(type);
  if (type instanceof ByteArrayType || type instanceof BitArrayType) return HEX;
  if (isContainer(type)) return containerForm(type);
  if (isArray(type)) return isOfVariableSize(type) ? listOfVariableSize(type) : listOfFixedSize(type);
  throw new Error(`Nothing is known of how values of the type ${type.typeName} are written as JSON.`);
}

/** Bytes and bits of any length. */
const HEX: JsonForm = {
  bound: Number.POSITIVE_INFINITY,
  maxLength: (_source, start, end) => HEX_START.length + 2 * (end - start) + 1,
  write: (out, { uint8Array }, start, end) => {
    out.constant(HEX_START);
    out.hex(uint8Array, start, end - start);
    out.byte(QUOTE);
  },
};

interface Field {
  /** The key, and what separates it from what is before it. */
  key: Constant;
  form: JsonForm;
  /** Where its bytes are from the start of the container, or the offset that says where. */
  position: number;
  size: number | null;
  /** Where the offset is that says where its bytes end; undefined for the last one. */
  next?: number;
}

function containerForm(type: Container): JsonForm {
  const fields = fieldsOf(type);
  const keysLength = fields.reduce((sum, { key }) => sum + key.length, 0) + 1;
  const bound = fields.reduce((sum, { form }) => sum + form.bound, keysLength);

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
        const { form } = field;
        return sum + form.maxLength(source, startOf(field, dataView, start), endOf(field, dataView, start, end));
      }, keysLength);
    },
    write: (out, source, start, end) => {
      const { dataView } = source;
      for (const field of fields) {
        out.constant(field.key);
        field.form.write(out, source, startOf(field, dataView, start), endOf(field, dataView, start, end));
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
    const field: Field = { key, form: jsonFormOf(fieldType), position, size };
    if (size === null) {
      if (previous) previous.next = position;
      previous = field;
    }
    fields.push(field);
    position += size ?? OFFSET_BYTES;
  }
  return fields;
}

function listOfFixedSize({ elementType, fixedSize }: ArrayOfElements): JsonForm {
  const form = jsonFormOf(elementType);
  const elementSize = elementType.fixedSize!;
  const maxLength = (size: number) => (size / elementSize) * (form.bound + 1) + 2;
  return {
    bound: maxLength(fixedSize ?? Number.POSITIVE_INFINITY),
    maxLength: (_source, start, end) => maxLength(end - start),
    write: (out, source, start, end) => {
      out.byte(OPENING_BRACKET);
      if (form instanceof FlatForm) form.writeSeveral(out, source, start, end);
      else writeOneByOne(form, elementSize, out, source, start, end);
      out.byte(CLOSING_BRACKET);
    },
  };
}

function writeOneByOne(
  form: JsonForm,
  size: number,
  out: ByteWriter,
  source: ByteViews,
  start: number,
  end: number,
): void {
  for (let at = start; at < end; at += size) {
    if (at > start) out.byte(COMMA);
    form.write(out, source, at, at + size);
  }
}

function listOfVariableSize({ elementType }: CompositeArray): JsonForm {
  const form = jsonFormOf(elementType);
  return {
    bound: Number.POSITIVE_INFINITY,
    maxLength: (source, start, end) => {
      let length = 2;
      forEachRange(source.dataView, start, end, (from, to) => {
        length += form.maxLength(source, from, to) + 1;
      });
      return length;
    },
    write: (out, source, start, end) => {
      out.byte(OPENING_BRACKET);
      forEachRange(source.dataView, start, end, (from, to, index) => {
        if (index > 0) out.byte(COMMA);
        form.write(out, source, from, to);
      });
      out.byte(CLOSING_BRACKET);
    },
  };
}

/** The first offset also tells how many there are. */
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
