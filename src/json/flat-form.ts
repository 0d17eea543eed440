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

/** What stands in a list for a small number behind another one; nearly all numbers of long lists, such as participation flags, are small. */
const SMALL_NUMBERS = Array.from({ length: 256 }, (_, value) => constant(`,"${value}"`));

type Kind = "boolean" | "uint8" | "uint16" | "uint32" | "uint64" | "hex" | "own";

/** One of the values that a value is made of. */
interface Step {
  /** What stands before it. */
  text: Constant;
  kind: Kind;
  /** Where its bytes begin in those of the whole. */
  position: number;
  size: number;
  /** How long its JSON is at most. */
  bound: number;
  /** Writes it where its kind is to be written by its type alone. */
  type: Type<unknown>;
}

/**
 * How values of a type of a fixed size are written from their SSZ bytes: each is a row of steps, with the texts between them
 * made beforehand. Lists of a million such values are what takes long, and this is the fastest way.
 */
export class FlatForm {
  readonly bound: number;
  readonly #size: number;
  readonly #steps: readonly Step[];
  readonly #end: Constant;
  /** Of a number, how many bytes it has; 0 for anything else, or for numbers of a size that few lists have. */
  readonly #numberBytes: 0 | 1 | 8;

  constructor(type: Type<unknown>) {
    const layout = new Layout();
    layout.add(type);
    this.#size = type.fixedSize!;
    this.#steps = layout.steps;
    this.#end = constant(layout.text);
    this.#numberBytes = numberBytesOf(type);
    this.bound = layout.steps.reduce((sum, { text, bound }) => sum + text.length + bound, this.#end.length);
  }

  maxLength(): number {
    return this.bound;
  }

  write(out: ByteWriter, { uint8Array, dataView }: ByteViews, start: number): void {
    for (const { text, kind, position, size, type } of this.#steps) {
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
        case "own":
          out.text(String(type.toJson(type.deserialize(uint8Array.slice(at, at + size)))));
          break;
      }
    }
    out.constant(this.#end);
  }

  /** Values that follow each other, with commas between them. */
  writeSeveral(out: ByteWriter, source: ByteViews, start: number, end: number): void {
    if (start < end) this.write(out, source, start);
    const rest = start + this.#size;
    if (this.#numberBytes === 1) {
      for (let at = rest; at < end; at++) out.constant(SMALL_NUMBERS[source.uint8Array[at]!]!);
    } else if (this.#numberBytes === 8) {
      for (let at = rest; at < end; at += 8) this.#writeNumber(out, source, at);
    } else {
      for (let at = rest; at < end; at += this.#size) this.#writeBehind(out, source, at);
    }
  }

  #writeNumber(out: ByteWriter, source: ByteViews, at: number): void {
    const lower = source.dataView.getUint32(at, true);
    if (lower < SMALL_NUMBERS.length && source.dataView.getUint32(at + 4, true) === 0)
      out.constant(SMALL_NUMBERS[lower]!);
    else this.#writeBehind(out, source, at);
  }

  #writeBehind(out: ByteWriter, source: ByteViews, at: number): void {
    out.byte(COMMA);
    this.write(out, source, at);
  }
}

function numberBytesOf(type: Type<unknown>): 0 | 1 | 8 {
  if (!(type instanceof UintNumberType || type instanceof UintBigintType)) return 0;
  return type.byteLength === 1 || type.byteLength === 8 ? type.byteLength : 0;
}

/** How many steps it takes to write a value of the type; infinitely many for one without a fixed size. */
export function countSteps(type: Type<unknown>): number {
  if (type.fixedSize === null) return Number.POSITIVE_INFINITY;
  if (isContainer(type)) return type.fieldsEntries.reduce((sum, { fieldType }) => sum + countSteps(fieldType), 0);
  if (isArray(type)) return (type.fixedSize / type.elementType.fixedSize!) * countSteps(type.elementType);
  return 1;
}

class Layout {
  readonly steps: Step[] = [];
  /** What stands behind the last step so far. */
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
      this.#step(type, "boolean", FALSE.length);
    } else if (type instanceof UintNumberType || type instanceof UintBigintType) {
      const { byteLength } = type;
      const bound = String(2n ** BigInt(byteLength * 8) - 1n).length;
      this.#quoted("", type, byteLength > 8 ? "own" : (`uint${byteLength * 8}` as Kind), bound);
    } else if (type instanceof ByteArrayType || type instanceof BitArrayType) {
      // A type may have a way of its own to write its digits, as addresses have some of them in upper case.
      const isPlain = [ByteArrayType, BitArrayType].some(({ prototype }) => type.toJson === prototype.toJson);
      if (isPlain) this.#quoted("0x", type, "hex", 2 * type.fixedSize!);
      else this.#quoted("", type, "own", 2 + 2 * type.fixedSize!);
    } else {
      throw new Error(`Nothing is known of how values of the type ${type.typeName} are written as JSON.`);
    }
  }

  #quoted(prefix: string, type: Type<unknown>, kind: Kind, bound: number): void {
    this.text += `"${prefix}`;
    this.#step(type, kind, bound);
    this.text += '"';
  }

  #step(type: Type<unknown>, kind: Kind, bound: number): void {
    const size = type.fixedSize!;
    this.steps.push({ text: constant(this.text), kind, position: this.#position, size, bound, type });
    this.text = "";
    this.#position += size;
  }
}
