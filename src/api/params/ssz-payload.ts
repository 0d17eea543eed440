import {
  BitListType,
  BitVectorType,
  BooleanType,
  ByteListType,
  ByteVectorType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  ProgressiveContainerType,
  type Type,
  UintBigintType,
  UintNumberType,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";
import type { ChainForkConfig } from "@lodestar/config";
import type { Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { z } from "zod";
import { IrregularNumber } from "../../json/parse.ts";
import type { JsonSchema } from "../schemas.ts";
import {
  GRAFFITI_FORM,
  graffitiFrom,
  isHex,
  parseFixedHex,
  parseInteger,
  parsePubkey,
  parseUint64,
  WRITTEN,
} from "./scalars.ts";
import { describeGiven, type ForkSchema, listSchema, refuse } from "./schema.ts";

/** What is wrong with a payload, as the rest of a sentence that begins with the payload's name. */
export class WrongPayload extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WrongPayload";
  }
}

export type JsonObject = Record<string, unknown>;

/** Where in a payload a value stands; the last member's name decides over the forms that only some members have. */
export interface Place {
  readonly path: string;
  readonly member: string;
}

export const TOP: Place = { path: "", member: "" };

export function memberAt({ path }: Place, name: string): Place {
  return { path: path === "" ? name : `${path}.${name}`, member: name };
}

/**
 * Reads the JSON of an SSZ value by the same rules as other parameters, which are stricter than those of the codec
 * in places (no stray hex digits, no list beyond its limit) and more generous in others (JSON integers, graffiti as text,
 * public keys without 0x). What it allows is handed to the type's own codec.
 */
export function readSszJson<T>(type: Type<T>, json: unknown, place: Place = TOP): T {
  unsafeMember = undefined;
  const value = type.fromJson(normalise(type, json, place));
  if (unsafeMember !== undefined) {
    const { signedBlock } = value as { signedBlock?: object };
    // Of the contents of a block it is the block that is judged.
    UNSAFE_MEMBERS.set(signedBlock ?? (value as object), unsafeMember);
  }
  return value;
}

/** The first member of the object that is being read whose integer is above 2^53-1, with that integer. */
let unsafeMember: string | undefined;
const UNSAFE_MEMBERS = new WeakMap<object, string>();

/**
 * Returns why a submitted object was refused: the given reason, unless a member was too large to be read exactly. The rules of the
 * chain were asked about another number then.
 */
export function refusalReason(submitted: object, reason: string): string {
  const member = UNSAFE_MEMBERS.get(submitted);
  return member === undefined ? reason : `Integers above 2^53-1 are not accepted: ${member}.`;
}

/** The JSON as the codec reads it, without the members that the type does not have. */
function normalise(type: Type<unknown>, json: unknown, place: Place): unknown {
  if (type instanceof ContainerType || type instanceof ProgressiveContainerType) {
    return normaliseContainer(type, json, place);
  }
  if (type instanceof ListBasicType || type instanceof ListCompositeType) {
    const { elementType, limit } = type as { elementType: Type<unknown>; limit: number };
    return normaliseArray(elementType, json, place, `at most ${limit}`, (length) => length <= limit);
  }
  if (type instanceof VectorBasicType || type instanceof VectorCompositeType) {
    const { elementType, length: exact } = type as { elementType: Type<unknown>; length: number };
    return normaliseArray(elementType, json, place, `exactly ${exact}`, (length) => length === exact);
  }
  if (type instanceof UintNumberType) return normaliseNumber(type, json, place);
  if (type instanceof UintBigintType) return normaliseBigint(type, json, place);
  if (type instanceof BooleanType) return expected(place, "true or false", json, booleanOf(json));
  if (type instanceof ByteVectorType) return normaliseBytes(type, json, place);
  if (type instanceof BitListType) {
    return expected(place, bitListForm(type.limitBits), json, parseBitList(json, type.limitBits) && json);
  }
  if (type instanceof BitVectorType) {
    return expected(place, bitVectorForm(type.lengthBits), json, parseBitVector(json, type.lengthBits) && json);
  }
  if (type instanceof ByteListType) {
    const form = `at most ${type.limitBytes} bytes: 0x followed by an even number of hex digits`;
    return expected(place, form, json, byteListOf(json, type.limitBytes));
  }
  return readByCodecAlone(type, json, place);
}

export function requireObject(json: unknown, place: Place): JsonObject {
  const isObject =
    typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof IrregularNumber);
  return expected(place, "a JSON object", json, isObject ? (json as JsonObject) : undefined);
}

export function requireMember(json: unknown, name: string, place: Place): unknown {
  const object = requireObject(json, place);
  if (!Object.hasOwn(object, name)) throw new WrongPayload(`lacks the member ${memberAt(place, name).path}.`);
  return object[name];
}

function normaliseContainer(
  type: { fieldsEntries: readonly { fieldType: Type<unknown>; jsonKey: string }[] },
  json: unknown,
  place: Place,
): JsonObject {
  const normalised: JsonObject = {};
  for (const { fieldType, jsonKey } of type.fieldsEntries) {
    normalised[jsonKey] = normalise(fieldType, requireMember(json, jsonKey, place), memberAt(place, jsonKey));
  }
  return normalised;
}

function normaliseArray(
  elementType: Type<unknown>,
  json: unknown,
  place: Place,
  limit: string,
  fits: (length: number) => boolean,
): unknown[] {
  const array = expected(place, "an array", json, Array.isArray(json) ? (json as unknown[]) : undefined);
  if (!fits(array.length)) throw wrong(place, `must hold ${limit} elements, but it holds ${array.length}.`);
  return array.map((element, index) =>
    normalise(elementType, element, { path: `${place.path}[${index}]`, member: place.member }),
  );
}

/**
 * The codec holds most integers as JavaScript numbers. One beyond 2^53-1 cannot be held exactly, but nothing on a chain
 * is that large either: the largest safe integer in its place leads to the same refusal by the rules of the chain.
 */
function normaliseNumber(type: UintNumberType, json: unknown, place: Place): number {
  const max = 2n ** BigInt(8 * type.byteLength) - 1n;
  const integer = expected(place, integerForm(type.byteLength), json, parseInteger(json, max));
  if (integer <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(integer);
  try {
    // The types of far future epochs know the largest uint64.
    return type.fromJson(String(integer));
  } catch {
    unsafeMember ??= `${place.path} is ${integer}`;
    return Number.MAX_SAFE_INTEGER;
  }
}

function normaliseBigint(type: UintBigintType, json: unknown, place: Place): bigint {
  const max = 2n ** BigInt(8 * type.byteLength) - 1n;
  if (type.byteLength <= 8) return expected(place, integerForm(type.byteLength), json, parseInteger(json, max));
  // Amounts in Wei exceed what a JSON number carries, so only the decimal string is taken.
  const form = `an integer from 0 to 2^${8 * type.byteLength}-1, written as a decimal string without leading zeros`;
  return expected(place, form, json, typeof json === "string" ? parseInteger(json, max) : undefined);
}

function integerForm(byteLength: number): string {
  return `an integer from 0 to 2^${8 * byteLength}-1, ${WRITTEN}`;
}

function normaliseBytes(type: ByteVectorType, json: unknown, place: Place): string {
  const { lengthBytes } = type;
  if (place.member === "graffiti") {
    const bytes = expected(place, GRAFFITI_FORM, json, graffitiFrom(json));
    return `0x${Buffer.from(bytes).toString("hex")}`;
  }
  if (lengthBytes === 48 && place.member.includes("pubkey")) {
    const form = "a BLS public key: 96 hex digits, with or without 0x before them";
    return expected(place, form, json, parsePubkey(json));
  }
  const form = `${lengthBytes} bytes: 0x followed by ${2 * lengthBytes} hex digits`;
  return expected(place, form, json, parseFixedHex(json, lengthBytes));
}

function byteListOf(json: unknown, limitBytes: number): string | undefined {
  if (typeof json !== "string" || json.length > 2 + 2 * limitBytes) return undefined;
  return isHex(json) ? json : undefined;
}

function booleanOf(json: unknown): boolean | undefined {
  return typeof json === "boolean" ? json : undefined;
}

/** For the kinds of types that only forks after those served here have. */
function readByCodecAlone(type: Type<unknown>, json: unknown, place: Place): unknown {
  return expected(place, `a value of the type ${type.typeName}`, json, isReadByCodec(type, json) ? json : undefined);
}

function isReadByCodec(type: Type<unknown>, json: unknown): boolean {
  try {
    const value = type.fromJson(json);
    // The codec takes digits that are no hex for zeros.
    return typeof json !== "string" || type.toJson(value) === json.toLowerCase();
  } catch {
    return false;
  }
}

function expected<T>(place: Place, form: string, given: unknown, value: T | undefined): T {
  if (value === undefined) throw wrong(place, `must be ${form}, but ${describeGiven(given)} was given.`);
  return value;
}

function wrong({ path }: Place, message: string): WrongPayload {
  return new WrongPayload(path === "" ? message : `is wrong at ${path}: it ${message}`);
}

function bitListForm(maxBits: number): string {
  return `a bit list of at most ${maxBits} bits: 0x followed by an even number of hex digits, the last byte not zero`;
}

function bitVectorForm(bitCount: number): string {
  return `a bit vector of ${bitCount} bits: 0x followed by ${2 * Math.ceil(bitCount / 8)} hex digits, unused high bits zero`;
}

/** A bit list in its SSZ form, whose last byte holds the delimiter bit (ssz/simple-serialize.md, Bitlist). */
function parseBitList(value: unknown, maxBits: number): Uint8Array | undefined {
  if (typeof value !== "string" || value.length > 2 + 2 * (Math.floor(maxBits / 8) + 1)) return undefined;
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(value)) return undefined;
  const bytes = fromHex(value);
  const last = bytes.at(-1)!;
  const bitCount = 8 * (bytes.length - 1) + (31 - Math.clz32(last));
  return last !== 0 && bitCount <= maxBits ? bytes : undefined;
}

/** A bit vector in its SSZ form: the bits beyond its length are zero (ssz/simple-serialize.md, Bitvector). */
function parseBitVector(value: unknown, bitCount: number): Uint8Array | undefined {
  const byteLength = Math.ceil(bitCount / 8);
  const hex = parseFixedHex(value, byteLength);
  if (hex === undefined) return undefined;
  const bytes = fromHex(hex);
  const usedInLast = bitCount - 8 * (byteLength - 1);
  return bytes.at(-1)! >> usedInLast === 0 ? bytes : undefined;
}

/**
 * A schema for objects of the chain, which are read by the SSZ type of their fork. `decode` throws a `WrongPayload` for
 * what is no such object; `noun` says what it is, with its article, and `shape` describes it to programs.
 */
export function sszPayload<T>(
  noun: string,
  decode: (json: unknown, config: ChainForkConfig) => T,
  shape: JsonSchema = {},
): ForkSchema<T> {
  const form = z.unknown().meta({ type: "object", description: `The JSON form of ${noun}.`, ...shape });
  return {
    noun,
    form,
    forConfig: (config) =>
      form.transform((json, context) => {
        try {
          return decode(json, config);
        } catch (error) {
          if (!(error instanceof WrongPayload)) throw error;
          return refuse(context, json, error.message);
        }
      }),
  };
}

/** The same for objects that have one form in all forks. */
export function plainSszPayload<T>(noun: string, type: Type<T>, shape?: JsonSchema): ForkSchema<T> {
  return sszPayload(noun, (json) => readSszJson(type, json), shape);
}

/** The slot that stands at the end of a path of members; it tells which fork a payload belongs to. */
export function slotAt(json: unknown, path: readonly string[]): Slot {
  let value = json;
  let place: Place = TOP;
  for (const name of path) {
    value = requireMember(value, name, place);
    place = memberAt(place, name);
  }
  const slot = parseUint64(value);
  if (slot === undefined) throw new WrongPayload(`is wrong at ${place.path}: it must be a slot.`);
  // No fork is scheduled beyond what a number holds; an infinite slot would belong to the forks that never come.
  return Math.min(slot, Number.MAX_SAFE_INTEGER);
}

/** A request body that is a list of objects, given as one parameter; `noun` says what they are, in the plural. */
export function payloadList<T>(noun: string, item: ForkSchema<T>): ForkSchema<T[]> {
  const form = z.unknown().meta({ type: "array", items: item.form.meta(), description: `A list of ${noun}.` });
  return {
    noun: `a list of ${noun}`,
    form,
    forConfig: (config) => listSchema(form, noun, item.forConfig(config)),
  };
}
