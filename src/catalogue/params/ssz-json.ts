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
import { IrregularNumber } from "../../json/irregular-number.ts";
import { bitListForm, bitVectorForm, parseBitList, parseBitVector } from "./bits.ts";
import { parseFixedHex, parsePubkey } from "./bytes.ts";
import { describeGiven } from "./given.ts";
import { GRAFFITI_FORM, graffitiFrom } from "./graffiti.ts";
import { parseInteger, WRITTEN } from "./integers.ts";

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
 * Reads the JSON of an SSZ value by the rules for scalars of the interface, which are stricter than those of the codec
 * in places (no stray hex digits, no list beyond its limit) and more generous in others (JSON integers, graffiti as text,
 * public keys without 0x). What it allows is handed to the type's own codec.
 */
export function readSszJson<T>(type: Type<T>, json: unknown, place: Place = TOP): T {
  return type.fromJson(normalise(type, json, place));
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
  return /^0x(?:[0-9a-fA-F]{2})*$/.test(json) ? json : undefined;
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
