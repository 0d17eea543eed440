import { type ForkName, isForkPostBellatrix, isForkPostGloas } from "@lodestar/params";
import { sszTypesFor } from "@lodestar/types";

/** The parts of an SSZ type that determine the structure of its bytes. */
interface SszType {
  /** Null if the size varies. */
  readonly fixedSize: number | null;
  readonly minSize: number;
  readonly maxSize: number;
  /** Fields of a container. */
  readonly fieldsEntries?: readonly { readonly fieldName: PropertyKey; readonly fieldType: SszType }[];
  /** Elements of a list or vector. */
  readonly elementType?: SszType;
}

const OFFSET_BYTES = 4;

/** Returns the type of the response of a path in a fork, or undefined if it is unknown or may still change. */
export function sszTypeOf(path: string, fork: ForkName): SszType | undefined {
  if (isForkPostGloas(fork)) return undefined;
  const types = sszTypesFor(fork);
  if (/\/beacon\/blocks\/[^/]+$/.test(path)) return types.SignedBeaconBlock;
  if (/\/beacon\/blinded_blocks\/[^/]+$/.test(path) && isForkPostBellatrix(fork))
    return sszTypesFor(fork).SignedBlindedBeaconBlock;
  if (/\/debug\/beacon\/states\/[^/]+$/.test(path)) return types.BeaconState;
  return undefined;
}

/** Returns why all offsets and lengths of a body cannot be those of a type, as a clause without subject. */
export function findStructureViolation(type: SszType, bytes: Buffer): string | undefined {
  return violationOf(type, bytes, "");
}

function violationOf(type: SszType, bytes: Buffer, name: string): string | undefined {
  const { fixedSize, minSize, maxSize, fieldsEntries, elementType } = type;
  const { length } = bytes;
  if (length < minSize || length > maxSize) return `has ${length} bytes${name}, not ${minSize} to ${maxSize}`;
  if (fixedSize !== null) return undefined;
  if (fieldsEntries) {
    const types: SszType[] = [];
    const names: string[] = [];
    const offsets: number[] = [];
    let at = 0;
    for (const { fieldName, fieldType } of fieldsEntries) {
      if (fieldType.fixedSize === null) {
        types.push(fieldType);
        names.push(` in ${String(fieldName)}`);
        offsets.push(bytes.readUInt32LE(at));
      }
      at += fieldType.fixedSize ?? OFFSET_BYTES;
    }
    if (offsets[0] !== at) return `has offset ${offsets[0]}${name} instead of ${at}`;
    return violationAt(offsets, bytes, name, (position) => [types[position]!, names[position]!]);
  }
  if (elementType === undefined || length === 0) return undefined;
  if (elementType.fixedSize !== null) {
    const isWhole = length % elementType.fixedSize === 0;
    return isWhole ? undefined : `has ${length} bytes${name}, not a multiple of ${elementType.fixedSize}`;
  }
  const first = length < OFFSET_BYTES ? 0 : bytes.readUInt32LE(0);
  if (first === 0 || first % OFFSET_BYTES !== 0 || first > length) return `has offset ${first}${name}`;
  const offsets = Array.from({ length: first / OFFSET_BYTES }, (_, index) => bytes.readUInt32LE(index * OFFSET_BYTES));
  return violationAt(offsets, bytes, name, () => [elementType, name]);
}

/** Checks that offsets ascend, and the values between them. */
function violationAt(
  offsets: readonly number[],
  bytes: Buffer,
  name: string,
  at: (position: number) => [type: SszType, name: string],
): string | undefined {
  for (const [position, offset] of offsets.entries()) {
    const end = offsets[position + 1] ?? bytes.length;
    if (offset > end || end > bytes.length) return `has offset ${offset}${name} beyond its end`;
    const violation = violationOf(at(position)[0], bytes.subarray(offset, end), at(position)[1]);
    if (violation !== undefined) return violation;
  }
  return undefined;
}
