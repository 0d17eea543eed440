import {
  BitArrayType,
  BooleanType,
  ByteArrayType,
  type ByteViews,
  type Type,
  UintBigintType,
  UintNumberType,
} from "@chainsafe/ssz";
import { isArray, isContainer } from "../ssz/tree.ts";
import { type ByteWriter, type Constant, constant } from "./byte-writer.ts";

const TRUE = constant("true");
const FALSE = constant("false");
const COMMA = ",".charCodeAt(0);

/**
 * Precomputed JSON of small list elements, including the comma. Most numbers in long lists are small, for example
 * participation flags.
 */
const SMALL_NUMBERS = Array.from({ length: 256 }, (_, value) => constant(`,"${value}"`));

/** How a leaf is written. "codec" uses the codec of its type. */
type Kind = "boolean" | "uint8" | "uint16" | "uint32" | "uint64" | "hex" | "codec";

/** A leaf of the value. */
interface Leaf {
  /** JSON text before the leaf. */
  text: Constant;
  kind: Kind;
  /** Offset in the SSZ bytes. */
  position: number;
  size: number;
  /** Maximum length of the leaf's JSON. */
  bound: number;
  type: Type<unknown>;
}

/**
 * Writes values of a fixed-size SSZ type as JSON, reading their SSZ bytes. The type is compiled once into a flat list
 * of leaves with precomputed text in between, which makes lists of a million values fast.
 */
export class FixedSizeWriter {
  /** Maximum length of a value's JSON. */
  readonly bound: number;
  readonly #size: number;
  readonly #leaves: readonly Leaf[];
  readonly #end: Constant;
  /** Byte size if the type is uint8 or uint64, 0 for any other type. */
  readonly #numberBytes: 0 | 1 | 8;

  constructor(type: Type<unknown>) {
    const layout = new Layout();
    layout.add(type);
    this.#size = type.fixedSize!;
    this.#leaves = layout.leaves;
    this.#end = constant(layout.text);
    this.#numberBytes = numberBytesOf(type);
    this.bound = layout.leaves.reduce((sum, { text, bound }) => sum + text.length + bound, this.#end.length);
  }

  maxLength(): number {
    return this.bound;
  }

  write(out: ByteWriter, { uint8Array, dataView }: ByteViews, start: number): void {
    for (const { text, kind, position, size, type } of this.#leaves) {
      const at = start + position;
      out.constant(text);
      switch (kind) {
        case "hex":
          out.hex(uint8Array, at, size);
          break;
        case "uint64":
          out.uint64(dataView.getUint32(at, true), dataView.getUint32(at + 4, true));
          break;
        case "uint8":
          out.uint(uint8Array[at]!);
          break;
        case "boolean":
          out.constant(uint8Array[at] === 0 ? FALSE : TRUE);
          break;
        case "uint16":
          out.uint(dataView.getUint16(at, true));
          break;
        case "uint32":
          out.uint(dataView.getUint32(at, true));
          break;
        case "codec":
          out.text(String(type.toJson(type.deserialize(uint8Array.slice(at, at + size)))));
          break;
      }
    }
    out.constant(this.#end);
  }

  /** Writes consecutive values, separated by commas. */
  writeSeveral(out: ByteWriter, source: ByteViews, start: number, end: number): void {
    if (start < end) this.write(out, source, start);
    const rest = start + this.#size;
    if (this.#numberBytes === 1) {
      for (let at = rest; at < end; at++) out.constant(SMALL_NUMBERS[source.uint8Array[at]!]!);
    } else if (this.#numberBytes === 8) {
      for (let at = rest; at < end; at += 8) this.#writeNumber(out, source, at);
    } else {
      for (let at = rest; at < end; at += this.#size) this.#writeNext(out, source, at);
    }
  }

  #writeNumber(out: ByteWriter, source: ByteViews, at: number): void {
    const lower = source.dataView.getUint32(at, true);
    if (lower < SMALL_NUMBERS.length && source.dataView.getUint32(at + 4, true) === 0)
      out.constant(SMALL_NUMBERS[lower]!);
    else this.#writeNext(out, source, at);
  }

  #writeNext(out: ByteWriter, source: ByteViews, at: number): void {
    out.byte(COMMA);
    this.write(out, source, at);
  }
}

function numberBytesOf(type: Type<unknown>): 0 | 1 | 8 {
  if (!(type instanceof UintNumberType || type instanceof UintBigintType)) return 0;
  return type.byteLength === 1 || type.byteLength === 8 ? type.byteLength : 0;
}

/** Counts the leaves of a type. Returns Infinity for a variable-size type. */
export function countLeaves(type: Type<unknown>): number {
  if (type.fixedSize === null) return Number.POSITIVE_INFINITY;
  if (isContainer(type)) return type.fieldsEntries.reduce((sum, { fieldType }) => sum + countLeaves(fieldType), 0);
  if (isArray(type)) return (type.fixedSize / type.elementType.fixedSize!) * countLeaves(type.elementType);
  return 1;
}

/** Compiles a type into its leaves. */
class Layout {
  readonly leaves: Leaf[] = [];
  /** JSON text after the last leaf. */
  text = "";
  #position = 0;

  add(type: Type<unknown>): void {
    if (isContainer(type)) {
      for (const [index, { fieldType, jsonKey }] of type.fieldsEntries.entries()) {
        this.text += `${index === 0 ? "{" : ","}${JSON.stringify(jsonKey)}:`;
        this.add(fieldType);
      }
      this.text += "}";
    } else if (isArray(type)) {
      const length = type.fixedSize! / type.elementType.fixedSize!;
      for (let index = 0; index < length; index++) {
        this.text += index === 0 ? "[" : ",";
        this.add(type.elementType);
      }
      this.text += "]";
    } else if (type instanceof BooleanType) {
      this.#leaf(type, "boolean", FALSE.length);
    } else if (type instanceof UintNumberType || type instanceof UintBigintType) {
      const { byteLength } = type;
      const bound = String(2n ** BigInt(byteLength * 8) - 1n).length;
      this.#quoted("", type, byteLength > 8 ? "codec" : (`uint${byteLength * 8}` as Kind), bound);
    } else if (type instanceof ByteArrayType || type instanceof BitArrayType) {
      // Some types override toJson. Execution addresses, for example, are checksummed.
      const isPlainHex = [ByteArrayType, BitArrayType].some(({ prototype }) => type.toJson === prototype.toJson);
      if (isPlainHex) this.#quoted("0x", type, "hex", 2 * type.fixedSize!);
      else this.#quoted("", type, "codec", 2 + 2 * type.fixedSize!);
    } else {
      throw new Error(`Values of the SSZ type ${type.typeName} cannot be written as JSON.`);
    }
  }

  #quoted(prefix: string, type: Type<unknown>, kind: Kind, bound: number): void {
    this.text += `"${prefix}`;
    this.#leaf(type, kind, bound);
    this.text += '"';
  }

  #leaf(type: Type<unknown>, kind: Kind, bound: number): void {
    const size = type.fixedSize!;
    this.leaves.push({ text: constant(this.text), kind, position: this.#position, size, bound, type });
    this.text = "";
    this.#position += size;
  }
}
