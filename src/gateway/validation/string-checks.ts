// Checks of strings by content.

import { QUOTE } from "../../json/value-bounds.ts";
import {
  anyString,
  type Check,
  findMember,
  HEX_DIGITS,
  INCOMPLETE,
  isDigit,
  type JsonScan,
  LONG_STRING,
  MINUS,
  QuotedName,
  ZERO,
} from "./json-scan.ts";

/** Checks an integer of 64 bits in a decimal string. */
export const decimalString: Check = (scan, at) => decimalAt(scan, at, { isSigned: false, max: MAX_UINT64 });
/** Like `decimalString`, but accepts a minus sign. */
export const signedDecimalString: Check = (scan, at) => decimalAt(scan, at, { isSigned: true, max: MAX_UINT64 });
/** Checks an integer of up to 256 bits in a decimal string. */
export const longDecimalString: Check = (scan, at) => decimalAt(scan, at, { isSigned: false, max: MAX_UINT256 });

const MAX_UINT64 = String(2n ** 64n - 1n);
const MAX_UINT256 = String(2n ** 256n - 1n);
const NO_DECIMAL = "is not a decimal integer";

function decimalAt(scan: JsonScan, at: number, { isSigned, max }: { isSigned: boolean; max: string }): number {
  const { bytes } = scan;
  if (at >= bytes.length) return INCOMPLETE;
  if (bytes[at] !== QUOTE)
    return scan.fail(isDigit(bytes[at]) ? "is a number instead of a decimal string" : NO_DECIMAL);
  const start = isSigned && bytes[at + 1] === MINUS ? at + 2 : at + 1;
  let end = start;
  while (end < bytes.length && isDigit(bytes[end])) end++;
  if (end === bytes.length) return INCOMPLETE;
  const digits = end - start;
  if (digits === 0 || bytes[end] !== QUOTE) return scan.fail(NO_DECIMAL);
  if (bytes[start] === ZERO && digits > 1) return scan.fail("is a decimal integer with a leading zero");
  if (digits < max.length || (digits === max.length && bytes.toString("latin1", start, end) <= max)) return end + 1;
  return scan.fail("is too large");
}

const LETTER_X = 0x78;

/** Checks a hex string of this many bytes. */
export function hexString(byteLength: number): Check {
  const violation = `is not a hex string of ${byteLength} bytes`;
  const length = 2 * byteLength + 4;
  return (scan, at) => {
    const { bytes } = scan;
    const end = at + length;
    if (end > bytes.length) return incompleteString(scan, at, violation);
    if (bytes[at] !== QUOTE || bytes[at + 1] !== ZERO || bytes[at + 2] !== LETTER_X) return scan.fail(violation);
    let isHex = 1;
    for (let next = at + 3; next < end - 1; next++) isHex &= HEX_DIGITS[bytes[next]!]!;
    return isHex === 1 && bytes[end - 1] === QUOTE ? end : scan.fail(violation);
  };
}

/** Fails if the string is complete but too short. */
function incompleteString(scan: JsonScan, at: number, violation: string): number {
  const end = anyString(scan, at);
  return end === INCOMPLETE ? end : scan.fail(violation);
}

/** Checks a hex string of any length. Only the start of a long string is checked. */
export const anyHexString: Check = (scan, at) => {
  const { bytes } = scan;
  const violation = "is not a hex string";
  const end = anyString(scan, at);
  if (end < 0) return end === INCOMPLETE ? end : scan.fail(violation);
  if ((end - at) % 2 !== 0 || bytes[at + 1] !== ZERO || bytes[at + 2] !== LETTER_X) return scan.fail(violation);
  let isHex = 1;
  const last = Math.min(end - 1, at + LONG_STRING);
  for (let next = at + 3; next < last; next++) isHex &= HEX_DIGITS[bytes[next]!]!;
  return isHex === 1 ? end : scan.fail(violation);
};

/** Checks a string against a regular expression. */
export function matchingString(pattern: RegExp): Check {
  return (scan, at) => {
    const end = anyString(scan, at);
    if (end < 0) return end;
    return pattern.test(scan.bytes.toString("latin1", at + 1, end - 1))
      ? end
      : scan.fail(`does not match ${pattern.source}`);
  };
}

/** Checks a string that is one of several. */
export function oneOfStrings(values: readonly string[]): Check {
  const names = values.map((value) => new QuotedName(value));
  return (scan, at) => {
    const index = findMember(names, scan.view, at, 0);
    if (index >= 0) return at + names[index]!.length;
    const end = anyString(scan, at);
    return end < 0 ? end : scan.fail(`is not one of ${values.join(", ")}`);
  };
}
