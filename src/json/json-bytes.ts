/** Where values begin and end in the bytes of a JSON text, which is taken to be right: whoever reads the values finds out. */

export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPENING_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

/** The first byte from here on that is no white space; the length of the bytes when there is none. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at]! <= SPACE) at++;
  return at;
}

/** The last byte up to here that is no white space; -1 when there is none. */
export function skipSpaceBack(bytes: Buffer, from: number): number {
  let at = from;
  while (at >= 0 && bytes[at]! <= SPACE) at--;
  return at;
}

/** What follows the value that begins here; undefined when the bytes may end before it does. */
export function afterValue(bytes: Buffer, start: number): number | undefined {
  const first = bytes[start];
  if (first === QUOTE) return afterString(bytes, start);
  if (first === OPENING_BRACKET || first === OPENING_BRACE) return afterContainer(bytes, start);
  let at = start;
  while (at < bytes.length && !endsScalar(bytes[at]!)) at++;
  return at < bytes.length ? at : undefined;
}

export function afterString(bytes: Buffer, openingQuote: number): number | undefined {
  let at = openingQuote + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at < bytes.length ? at + 1 : undefined;
}

function afterContainer(bytes: Buffer, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const end = afterString(bytes, at);
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

/** Where the value begins whose last byte this is; undefined when a string, an array or an object begins before `from`. */
export function startOfValue(bytes: Buffer, last: number, from: number): number | undefined {
  const byte = bytes[last];
  if (byte === QUOTE) return startOfString(bytes, last, from);
  if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) return startOfContainer(bytes, last, from);
  let at = last;
  while (at >= from && !endsScalar(bytes[at]!) && bytes[at] !== COLON) at--;
  return at + 1;
}

export function startOfString(bytes: Buffer, closingQuote: number, from: number): number | undefined {
  for (let at = closingQuote - 1; at >= from; at--) {
    if (bytes[at] === QUOTE && !isEscaped(bytes, at)) return at;
  }
  return undefined;
}

/** Of a quote: an odd number of backslashes is before it. */
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

function endsScalar(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === CLOSING_BRACKET || byte === CLOSING_BRACE;
}

/** Nobody puts as much white space before a text. */
const MOST_SPACE_BYTES = 64 * 1024;

/** What a text begins with; undefined when that is far away. */
export function firstByte(bytes: Uint8Array): number | undefined {
  const end = Math.min(bytes.length, MOST_SPACE_BYTES);
  for (let at = 0; at < end; at++) if (bytes[at]! > SPACE) return bytes[at];
  return undefined;
}
