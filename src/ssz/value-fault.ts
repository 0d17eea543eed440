import {
  BitArray,
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

/** First part of a value that does not match its type. */
export interface ValueFault {
  /**
   * Path of fields and indices to that part, such as `body.executionRequests.withdrawals`; empty for the value itself.
   */
  path: string;
  /** Problem with that part, phrased as a predicate, such as `has 18 elements, at most 16 allowed`. */
  reason: string;
}

/**
 * Returns why a value would not survive an SSZ round trip; undefined if it would. The library's encoder checks nothing:
 * it writes lists that exceed their limit and byte vectors of any length.
 */
export function valueFault(type: Type<unknown>, value: unknown): ValueFault | undefined {
  if (type instanceof UintNumberType) return faultIf(!isUintNumber(type, value), `is ${value}, not a ${nameOf(type)}`);
  if (type instanceof UintBigintType) return faultIf(!isUintBigint(type, value), `is ${value}, not a ${nameOf(type)}`);
  if (type instanceof BooleanType) return faultIf(typeof value !== "boolean", `is ${value}, not a boolean`);
  if (type instanceof ByteVectorType) return faultOfBytes(value, type.lengthBytes, type.lengthBytes);
  if (type instanceof ByteListType) return faultOfBytes(value, 0, type.limitBytes);
  if (type instanceof ProgressiveByteListType) return faultOfBytes(value, 0, Number.POSITIVE_INFINITY);
  if (type instanceof ProgressiveBitListType) return faultOfBits(value, 0, Number.POSITIVE_INFINITY);
  if (type instanceof BitVectorType) return faultOfBits(value, type.lengthBits, type.lengthBits);
  if (type instanceof BitListType) return faultOfBits(value, 0, type.limitBits);
  if (type instanceof ListBasicType || type instanceof ListCompositeType) {
    return faultOfElements(type.elementType, value, 0, type.limit);
  }
  if (type instanceof VectorBasicType || type instanceof VectorCompositeType) {
    return faultOfElements(type.elementType, value, type.length, type.length);
  }
  if (type instanceof ProgressiveListBasicType || type instanceof ProgressiveListCompositeType) {
    return faultOfElements(type.elementType, value, 0, Number.POSITIVE_INFINITY);
  }
  if (type instanceof ContainerType || type instanceof ProgressiveContainerType) {
    return faultOfFields(type.fields as Record<string, Type<unknown>>, value);
  }
  return faultByCodec(type, value);
}

/** Describes a value's fault as a clause; returns undefined if it has none. */
export function describeValueFault(type: Type<unknown>, value: unknown): string | undefined {
  const fault = valueFault(type, value);
  return fault && `${fault.path || "it"} ${fault.reason}`;
}

/** Handles types that no current fork uses. */
function faultByCodec(type: Type<unknown>, value: unknown): ValueFault | undefined {
  try {
    type.deserialize(type.serialize(value));
    return undefined;
  } catch (error) {
    return { path: "", reason: `cannot be encoded: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function faultIf(isFaulty: boolean, reason: string): ValueFault | undefined {
  return isFaulty ? { path: "", reason } : undefined;
}

/** Some types, such as epochs, decode their maximum as infinity. */
function isUintNumber(type: UintNumberType, value: unknown): boolean {
  if (value === Number.POSITIVE_INFINITY) return type.deserialize(type.serialize(value)) === value;
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** (8 * type.byteLength);
}

function isUintBigint({ byteLength }: UintBigintType, value: unknown): boolean {
  return typeof value === "bigint" && value >= 0n && value >> BigInt(8 * byteLength) === 0n;
}

function nameOf({ byteLength }: { byteLength: number }): string {
  return `uint${8 * byteLength}`;
}

function faultOfBytes(value: unknown, min: number, max: number): ValueFault | undefined {
  if (!(value instanceof Uint8Array)) return { path: "", reason: "is not a byte array" };
  return faultOfLength("bytes", value.length, min, max);
}

function faultOfBits(value: unknown, min: number, max: number): ValueFault | undefined {
  if (!(value instanceof BitArray)) return { path: "", reason: "is not a bit array" };
  return faultOfLength("bits", value.bitLen, min, max);
}

function faultOfElements(elementType: Type<unknown>, value: unknown, min: number, max: number): ValueFault | undefined {
  if (!Array.isArray(value)) return { path: "", reason: "is not an array" };
  const wrongLength = faultOfLength("elements", value.length, min, max);
  if (wrongLength) return wrongLength;
  for (let index = 0; index < value.length; index++) {
    const fault = valueFault(elementType, value[index]);
    if (fault) return within(`[${index}]`, fault);
  }
  return undefined;
}

function faultOfFields(fields: Readonly<Record<string, Type<unknown>>>, value: unknown): ValueFault | undefined {
  if (typeof value !== "object" || value === null) return { path: "", reason: "is not an object" };
  for (const name in fields) {
    const fault = valueFault(fields[name]!, (value as Readonly<Record<string, unknown>>)[name]);
    if (fault) return within(name, fault);
  }
  return undefined;
}

function faultOfLength(unit: string, length: number, min: number, max: number): ValueFault | undefined {
  if (length >= min && length <= max) return undefined;
  return { path: "", reason: `has ${length} ${unit}, ${min === max ? `expected ${max}` : `at most ${max} allowed`}` };
}

function within(name: string, { path, reason }: ValueFault): ValueFault {
  const separator = path === "" || path.startsWith("[") ? "" : ".";
  return { path: `${name}${separator}${path}`, reason };
}
