import {
  BitListType,
  BitVectorType,
  BooleanType,
  ByteListType,
  ByteVectorType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  ProgressiveBitListType,
  ProgressiveByteListType,
  ProgressiveContainerType,
  ProgressiveListBasicType,
  ProgressiveListCompositeType,
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
import { isJsonObject } from "../../json/json-object.ts";
import type { JsonSchema } from "../schemas.ts";
import {
  GRAFFITI_FORM,
  INTEGER_NOTATION,
  isHex,
  parseFixedHex,
  parseGraffitiValue,
  parseInteger,
  parsePubkey,
  parseUint64,
} from "./scalars.ts";
import { addIssue, describeValue, type ForkSchema, listSchema } from "./schema.ts";

/** Thrown for an invalid payload. The message continues a sentence that starts with the payload's name. */
export class InvalidPayloadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidPayloadError";
  }
}

export type JsonObject = Record<string, unknown>;

/** Location of a value in a payload. Some members, such as `graffiti`, have their own format. */
export interface PayloadLocation {
  readonly path: string;
  readonly member: string;
}

export const TOP_LEVEL: PayloadLocation = { path: "", member: "" };

export function memberLocation({ path }: PayloadLocation, name: string): PayloadLocation {
  return { path: path === "" ? name : `${path}.${name}`, member: name };
}

/**
 * Parses the JSON of an SSZ value. Compared with the type's own codec, this is stricter about hex digits and list
 * limits, and also accepts JSON integers, graffiti as text, and public keys without 0x.
 */
export function readSszJson<T>(type: Type<T>, json: unknown, location: PayloadLocation = TOP_LEVEL): T {
  unsafeMember = undefined;
  const value = type.fromJson(normalize(type, json, location));
  if (unsafeMember !== undefined) {
    const { signedBlock } = value as { signedBlock?: object };
    // When block contents are validated, it is the block that may be rejected.
    UNSAFE_MEMBERS.set(signedBlock ?? (value as object), unsafeMember);
  }
  return value;
}

/** The first member above 2^53-1 in the payload that is being parsed, and its value. */
let unsafeMember: string | undefined;
const UNSAFE_MEMBERS = new WeakMap<object, string>();

/**
 * Returns the reason for rejecting a submitted object. If a member was too large to be parsed exactly, that is the
 * reason, because the chain has validated a different number.
 */
export function rejectionReason(submitted: object, reason: string): string {
  const member = UNSAFE_MEMBERS.get(submitted);
  return member === undefined ? reason : `Integers above 2^53-1 are not accepted: ${member}.`;
}

/** Converts JSON to the form that the codec accepts, without unknown members. */
function normalize(type: Type<unknown>, json: unknown, location: PayloadLocation): unknown {
  if (type instanceof ContainerType || type instanceof ProgressiveContainerType) {
    return normalizeContainer(type, json, location);
  }
  if (type instanceof ListBasicType || type instanceof ListCompositeType) {
    const { elementType, limit } = type as { elementType: Type<unknown>; limit: number };
    return normalizeArray(elementType, json, location, `at most ${limit}`, (length) => length <= limit);
  }
  if (type instanceof ProgressiveListBasicType || type instanceof ProgressiveListCompositeType) {
    // The size of a request bounds these lists, and the transition the counts of operations.
    return normalizeArray(type.elementType, json, location, "any number of", () => true);
  }
  if (type instanceof VectorBasicType || type instanceof VectorCompositeType) {
    const { elementType, length: exact } = type as { elementType: Type<unknown>; length: number };
    return normalizeArray(elementType, json, location, `exactly ${exact}`, (length) => length === exact);
  }
  if (type instanceof UintNumberType) return normalizeNumber(type, json, location);
  if (type instanceof UintBigintType) return normalizeBigint(type, json, location);
  if (type instanceof BooleanType) return expected(location, "true or false", json, booleanOf(json));
  if (type instanceof ByteVectorType) return normalizeBytes(type, json, location);
  if (type instanceof BitListType) {
    return expected(location, bitListForm(type.limitBits), json, parseBitList(json, type.limitBits) && json);
  }
  if (type instanceof ProgressiveBitListType) {
    return expected(location, BIT_LIST_FORM, json, parseBitList(json, Number.POSITIVE_INFINITY) && json);
  }
  if (type instanceof BitVectorType) {
    return expected(location, bitVectorForm(type.lengthBits), json, parseBitVector(json, type.lengthBits) && json);
  }
  if (type instanceof ByteListType) {
    const form = `at most ${type.limitBytes} bytes: 0x followed by an even number of hex digits`;
    return expected(location, form, json, byteListOf(json, type.limitBytes));
  }
  if (type instanceof ProgressiveByteListType) {
    const form = "bytes: 0x followed by an even number of hex digits";
    return expected(location, form, json, byteListOf(json, Number.POSITIVE_INFINITY));
  }
  return normalizeByCodec(type, json, location);
}

export function requireObject(json: unknown, location: PayloadLocation): JsonObject {
  return expected(location, "a JSON object", json, isJsonObject(json) ? json : undefined);
}

export function requireMember(json: unknown, name: string, location: PayloadLocation): unknown {
  const object = requireObject(json, location);
  if (!Object.hasOwn(object, name))
    throw new InvalidPayloadError(`is missing the member ${memberLocation(location, name).path}.`);
  return object[name];
}

function normalizeContainer(
  type: { fieldsEntries: readonly { fieldType: Type<unknown>; jsonKey: string }[] },
  json: unknown,
  location: PayloadLocation,
): JsonObject {
  const normalized: JsonObject = {};
  for (const { fieldType, jsonKey } of type.fieldsEntries) {
    normalized[jsonKey] = normalize(
      fieldType,
      requireMember(json, jsonKey, location),
      memberLocation(location, jsonKey),
    );
  }
  return normalized;
}

function normalizeArray(
  elementType: Type<unknown>,
  json: unknown,
  location: PayloadLocation,
  limit: string,
  fits: (length: number) => boolean,
): unknown[] {
  const array = expected(location, "an array", json, Array.isArray(json) ? (json as unknown[]) : undefined);
  if (!fits(array.length))
    throw invalidAt(location, `must contain ${limit} elements, but it contains ${array.length}.`);
  return array.map((element, index) =>
    normalize(elementType, element, { path: `${location.path}[${index}]`, member: location.member }),
  );
}

/**
 * Converts an integer to a number. Integers above 2^53-1 become the largest safe integer, because no chain accepts
 * either of the two.
 */
function normalizeNumber(type: UintNumberType, json: unknown, location: PayloadLocation): number {
  const max = 2n ** BigInt(8 * type.byteLength) - 1n;
  const integer = expected(location, integerForm(type.byteLength), json, parseInteger(json, max));
  if (integer <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(integer);
  try {
    // Epoch types accept FAR_FUTURE_EPOCH as well.
    return type.fromJson(String(integer));
  } catch {
    unsafeMember ??= `${location.path} is ${integer}`;
    return Number.MAX_SAFE_INTEGER;
  }
}

function normalizeBigint(type: UintBigintType, json: unknown, location: PayloadLocation): bigint {
  const max = 2n ** BigInt(8 * type.byteLength) - 1n;
  if (type.byteLength <= 8) return expected(location, integerForm(type.byteLength), json, parseInteger(json, max));
  // Amounts in wei are too large for JSON numbers to be safe, so only decimal strings are accepted.
  const form = `an integer from 0 to 2^${8 * type.byteLength}-1, written as a decimal string without leading zeros`;
  return expected(location, form, json, typeof json === "string" ? parseInteger(json, max) : undefined);
}

function integerForm(byteLength: number): string {
  return `an integer from 0 to 2^${8 * byteLength}-1, ${INTEGER_NOTATION}`;
}

function normalizeBytes(type: ByteVectorType, json: unknown, location: PayloadLocation): string {
  const { lengthBytes } = type;
  if (location.member === "graffiti") {
    const bytes = expected(location, GRAFFITI_FORM, json, parseGraffitiValue(json));
    return `0x${Buffer.from(bytes).toString("hex")}`;
  }
  if (lengthBytes === 48 && location.member.includes("pubkey")) {
    const form = "a BLS public key: 96 hex digits, with or without 0x";
    return expected(location, form, json, parsePubkey(json));
  }
  const form = `${lengthBytes} bytes: 0x followed by ${2 * lengthBytes} hex digits`;
  return expected(location, form, json, parseFixedHex(json, lengthBytes));
}

function byteListOf(json: unknown, limitBytes: number): string | undefined {
  if (typeof json !== "string" || json.length > 2 + 2 * limitBytes) return undefined;
  return isHex(json) ? json : undefined;
}

function booleanOf(json: unknown): boolean | undefined {
  return typeof json === "boolean" ? json : undefined;
}

/** Types of later forks are validated only with their codec. */
function normalizeByCodec(type: Type<unknown>, json: unknown, location: PayloadLocation): unknown {
  return expected(
    location,
    `a value of the type ${type.typeName}`,
    json,
    isValidForCodec(type, json) ? json : undefined,
  );
}

function isValidForCodec(type: Type<unknown>, json: unknown): boolean {
  try {
    const value = type.fromJson(json);
    // The codec would parse invalid hex digits as zeros.
    return typeof json !== "string" || type.toJson(value) === json.toLowerCase();
  } catch {
    return false;
  }
}

function expected<T>(location: PayloadLocation, form: string, json: unknown, value: T | undefined): T {
  if (value === undefined) throw invalidAt(location, `must be ${form}, but ${describeValue(json)} was given.`);
  return value;
}

function invalidAt({ path }: PayloadLocation, message: string): InvalidPayloadError {
  return new InvalidPayloadError(path === "" ? message : `is invalid at ${path}: it ${message}`);
}

const BIT_LIST_FORM = "a bit list: 0x followed by an even number of hex digits, the last byte not zero";

function bitListForm(maxBits: number): string {
  return BIT_LIST_FORM.replace("list", `list of at most ${maxBits} bits`);
}

function bitVectorForm(bitCount: number): string {
  return `a bit vector of ${bitCount} bits: 0x followed by ${2 * Math.ceil(bitCount / 8)} hex digits, unused high bits zero`;
}

/** Parses a serialized bit list, whose last byte contains the delimiter bit (ssz/simple-serialize.md, Bitlist). */
function parseBitList(value: unknown, maxBits: number): Uint8Array | undefined {
  if (typeof value !== "string" || value.length > 2 + 2 * (Math.floor(maxBits / 8) + 1)) return undefined;
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(value)) return undefined;
  const bytes = fromHex(value);
  const last = bytes.at(-1)!;
  const bitCount = 8 * (bytes.length - 1) + (31 - Math.clz32(last));
  return last !== 0 && bitCount <= maxBits ? bytes : undefined;
}

/** Parses a serialized bit vector, whose unused bits are zero (ssz/simple-serialize.md, Bitvector). */
function parseBitVector(value: unknown, bitCount: number): Uint8Array | undefined {
  const byteLength = Math.ceil(bitCount / 8);
  const hex = parseFixedHex(value, byteLength);
  if (hex === undefined) return undefined;
  const bytes = fromHex(hex);
  const usedInLast = bitCount - 8 * (byteLength - 1);
  return bytes.at(-1)! >> usedInLast === 0 ? bytes : undefined;
}

/**
 * Creates the schema for a consensus object, which is parsed with the SSZ type of its fork. `decode` throws an
 * `InvalidPayloadError`. `noun` is the object's name including its article, and `shape` is its JSON schema.
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
          if (!(error instanceof InvalidPayloadError)) throw error;
          return addIssue(context, json, error.message);
        }
      }),
  };
}

/** Creates the schema for a consensus object whose type is the same in all forks. */
export function plainSszPayload<T>(noun: string, type: Type<T>, shape?: JsonSchema): ForkSchema<T> {
  return sszPayload(noun, (json) => readSszJson(type, json), shape);
}

/** Returns the slot at a path of members, which determines the fork of a payload. */
export function slotAt(json: unknown, path: readonly string[]): Slot {
  let value = json;
  let location: PayloadLocation = TOP_LEVEL;
  for (const name of path) {
    value = requireMember(value, name, location);
    location = memberLocation(location, name);
  }
  const slot = parseUint64(value);
  if (slot === undefined) throw new InvalidPayloadError(`is invalid at ${location.path}: it must be a slot.`);
  // An infinite slot would belong to a fork that is not scheduled.
  return Math.min(slot, Number.MAX_SAFE_INTEGER);
}

/** Creates the schema for a request body that is a list of objects. `noun` is their plural name. */
export function payloadList<T>(noun: string, item: ForkSchema<T>): ForkSchema<T[]> {
  const form = z.unknown().meta({ type: "array", items: item.form.meta(), description: `A list of ${noun}.` });
  return {
    noun: `a list of ${noun}`,
    form,
    forConfig: (config) => listSchema(form, noun, item.forConfig(config)),
  };
}
