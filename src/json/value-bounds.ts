// Finds the bounds of values in JSON bytes without parsing them. The text is assumed to be valid.

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPENING_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

/** Returns true for JSON's four whitespace characters. */
function isSpace(byte: number): boolean {
  return byte <= SPACE && (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB);
}

/** Returns the position of the first non-whitespace byte at or after `from`, or the length. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at]!)) at++;
  return at;
}

/** Returns the position of the last non-whitespace byte at or before `from`, or -1. */
export function skipSpaceBack(bytes: Buffer, from: number): number {
  let at = from;
  while (at >= 0 && isSpace(bytes[at]!)) at--;
  return at;
}

/** Returns the position after the value that starts at `start`, or undefined if the bytes end first. */
export function endOfValue(bytes: Buffer, start: number): number | undefined {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first === OPENING_BRACKET || first === OPENING_BRACE) return endOfContainer(bytes, start);
  let at = start;
  while (at < bytes.length && !endsScalar(bytes[at]!)) at++;
  return at < bytes.length ? at : undefined;
}

/** Returns the position after the closing quote of a string, or undefined if the bytes end first. */
export function endOfString(bytes: Buffer, openingQuote: number): number | undefined {
  let at = openingQuote + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at < bytes.length ? at + 1 : undefined;
}

function endOfContainer(bytes: Buffer, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      depth++;
    } else if ((byte === CLOSING_BRACKET || byte === CLOSING_BRACE) && --depth === 0) {
      return at + 1;
    }
  }
  return undefined;
}

/** Returns the start of the value that ends at `last`, or undefined if it starts before `from`. */
export function startOfValue(bytes: Buffer, last: number, from: number): number | undefined {
  const byte = bytes[last];
  if (byte === QUOTE) return startOfString(bytes, last, from);
  if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) return startOfContainer(bytes, last, from);
  let at = last;
  while (at >= from && !endsScalar(bytes[at]!) && bytes[at] !== COLON) at--;
  return at + 1;
}

/** Returns the position of a string's opening quote, or undefined if it is before `from`. */
export function startOfString(bytes: Buffer, closingQuote: number, from: number): number | undefined {
  for (let at = closingQuote - 1; at >= from; at--) {
    if (bytes[at] === QUOTE && !isEscaped(bytes, at)) return at;
  }
  return undefined;
}

/** Returns true if an odd number of backslashes precedes the quote. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

function startOfContainer(bytes: Buffer, last: number, from: number): number | undefined {
  let depth = 0;
  for (let at = last; at >= from; at--) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const start = startOfString(bytes, at, from);
      if (start === undefined) return undefined;
      at = start;
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
      depth++;
    } else if ((byte === OPENING_BRACKET || byte === OPENING_BRACE) && --depth === 0) {
      return at;
    }
  }
  return undefined;
}

/** Returns true for a byte that may follow a number or literal. */
export function endsScalar(byte: number): boolean {
  return isSpace(byte) || byte === COMMA || byte === CLOSING_BRACKET || byte === CLOSING_BRACE;
}

/** Limit on leading whitespace. */
const MAX_LEADING_SPACE = 64 * 1024;

/** Returns the first non-whitespace byte, or undefined after 64 KiB of whitespace. */
export function firstNonSpace(bytes: Uint8Array): number | undefined {
  const end = Math.min(bytes.length, MAX_LEADING_SPACE);
  for (let at = 0; at < end; at++) if (bytes[at]! > SPACE) return bytes[at];
  return undefined;
}
