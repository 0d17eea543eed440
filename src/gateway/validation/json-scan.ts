// Checks the bytes of a JSON text without parsing it.

import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  endsScalar,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  SPACE,
  skipSpace,
} from "../../json/value-bounds.ts";
import type { ChainSpec } from "../network/chain-spec.ts";

/** Parameters of a call, by name. */
export type CallParams = Readonly<Record<string, string | undefined>>;

/** Results of a check that are not positions: a violation, and bytes that end within the value. */
export const INVALID = -1;
export const INCOMPLETE = -2;

/** Checks the value at a position. Returns the position after it, `INVALID` or `INCOMPLETE`. */
export type Check = (scan: JsonScan, at: number) => number;

/** The call that a JSON text answers, and its network. */
export interface ScanContext {
  readonly params?: CallParams;
  /** Body of the request, in JSON. */
  readonly requestBody?: Buffer | undefined;
  /** Undefined if the network is not compared. */
  readonly chainSpec?: ChainSpec | undefined;
  /** True if `Eth-Consensus-Version` names a fork that the schemas do not describe. */
  readonly isUnknownFork?: boolean;
}

/** One pass over a JSON text. */
export class JsonScan {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Parameters of the call that the text answers. */
  readonly params: CallParams;
  readonly requestBody: Buffer | undefined;
  readonly chainSpec: ChainSpec | undefined;
  /** True if the text belongs to a fork that the schemas do not describe. */
  isUnknownFork: boolean;
  /** The member `version`. */
  version: string | undefined;
  /** Slot that determines the fork of the text. */
  slot: number | undefined;
  /** The member `data`, if it describes the network. */
  networkText: string | undefined;
  /** True once the member `data` has been reached. */
  hasReachedData = false;
  /** Start and end of the value that was requested, once it has passed its check. */
  data: readonly [at: number, end: number] | undefined;
  /** Number of list elements compared with each other so far. */
  elements = 0;
  /** Values that may occur only once. */
  readonly seen = new Set<string>();
  /** Ids in the request body, once they are needed. */
  requestedIds: ReadonlySet<string> | undefined;
  /** Members of the current block body that depend on the fork. */
  forkMembers: string[] = [];
  /** Fork-dependent members of the last valid block body. */
  bodyMembers: readonly string[] | undefined;
  /** The violation, as a clause without subject, and the path of its value. */
  violation = "";
  path = "";

  constructor(bytes: Buffer, { params = {}, requestBody, chainSpec, isUnknownFork = false }: ScanContext = {}) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.params = params;
    this.requestBody = requestBody;
    this.chainSpec = chainSpec;
    this.isUnknownFork = isUnknownFork;
  }

  /** Returns the text of a scalar, without quotes. */
  scalar(at: number, end: number): string {
    const isQuoted = this.bytes[at] === QUOTE;
    return isQuoted ? this.bytes.toString("latin1", at + 1, end - 1) : this.bytes.toString("latin1", at, end);
  }

  /** Parses a value that passed its check. */
  parse(at: number, end: number): unknown {
    return JSON.parse(this.bytes.toString("utf8", at, end));
  }

  fail(violation: string): typeof INVALID {
    this.violation = violation;
    this.path = "";
    return INVALID;
  }

  /** Prepends a step to the path of the violation. */
  within(step: string): typeof INVALID {
    this.path = step + this.path;
    return INVALID;
  }
}

const LETTER_U = 0x75;
/** Characters that may follow a backslash. */
const ESCAPES = Buffer.from('"\\\\/bfnrtu');

const NO_JSON = "is not valid JSON";
const MAX_DEPTH = 64;
/** Quotes and backslashes of longer strings are searched natively. */
export const LONG_STRING = 256;

/** Checks a string of any content. */
export const anyString: Check = (scan, at) => {
  const { bytes } = scan;
  if (at >= bytes.length) return INCOMPLETE;
  if (bytes[at] !== QUOTE) return scan.fail("is not a string");
  const end = Math.min(bytes.length, at + LONG_STRING);
  for (let next = at + 1; next < end; next++) {
    const byte = bytes[next]!;
    if (byte === QUOTE) return next + 1;
    if (byte === BACKSLASH) return escapedString(scan, next);
    if (byte < SPACE) return scan.fail(NO_JSON);
  }
  const quote = bytes.indexOf(QUOTE, end);
  const stop = quote < 0 ? bytes.length : quote;
  const isPlain = !bytes.subarray(end, stop).includes(BACKSLASH) && !hasControlCharacter(scan.view, end, stop);
  if (isPlain) return quote < 0 ? INCOMPLETE : quote + 1;
  return escapedString(scan, end);
};

/** Compares sixteen bytes at a time, because there is no native search for a range of characters. */
function hasControlCharacter(view: DataView, start: number, end: number): boolean {
  let matches = 0;
  let at = start;
  for (; at + 16 <= end; at += 16) {
    const first = view.getInt32(at, true);
    const second = view.getInt32(at + 4, true);
    const third = view.getInt32(at + 8, true);
    const fourth = view.getInt32(at + 12, true);
    // The high bit of a byte is set if the byte is less than a space.
    matches |=
      ((first - 0x20202020) & ~first) |
      ((second - 0x20202020) & ~second) |
      ((third - 0x20202020) & ~third) |
      ((fourth - 0x20202020) & ~fourth);
  }
  for (; at < end; at++) if (view.getUint8(at) < SPACE) return true;
  return (matches & 0x80808080) !== 0;
}

/** Checks the rest of a string byte by byte. */
function escapedString(scan: JsonScan, from: number): number {
  const { bytes } = scan;
  for (let next = from; next < bytes.length; next++) {
    const byte = bytes[next]!;
    if (byte === QUOTE) return next + 1;
    if (byte < SPACE) return scan.fail(NO_JSON);
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[++next];
    if (escaped === undefined) return INCOMPLETE;
    if (!ESCAPES.includes(escaped)) return scan.fail(NO_JSON);
    if (escaped !== LETTER_U) continue;
    for (let digits = 0; digits < 4; digits++) {
      if (++next === bytes.length) return INCOMPLETE;
      if (HEX_DIGITS[bytes[next]!] !== 1) return scan.fail(NO_JSON);
    }
  }
  return INCOMPLETE;
}

/** Checks any value, to a limited depth. */
export const anyValue: Check = (scan, at) => valueAt(scan, at, 0);

/** Checks any value but null. */
export const anyButNull: Check = (scan, at) => {
  return scan.bytes[at] === LETTER_N ? scan.fail("is null") : valueAt(scan, at, 0);
};

function valueAt(scan: JsonScan, at: number, depth: number): number {
  const { bytes } = scan;
  if (at >= bytes.length) return INCOMPLETE;
  const first = bytes[at]!;
  if (first === QUOTE) return anyString(scan, at);
  if (first === OPENING_BRACE || first === OPENING_BRACKET) return containerAt(scan, at, depth);
  return first === MINUS || isDigit(first) ? numberAt(scan, at) : literalAt(scan, at);
}

function containerAt(scan: JsonScan, at: number, depth: number): number {
  const { bytes } = scan;
  if (depth === MAX_DEPTH) return scan.fail("is nested too deeply");
  const isObject = bytes[at] === OPENING_BRACE;
  const closing = isObject ? CLOSING_BRACE : CLOSING_BRACKET;
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closing) return next + 1;
  for (;;) {
    if (isObject) {
      next = anyString(scan, next);
      if (next < 0) return next;
      next = colonAt(scan, next);
      if (next < 0) return next;
    }
    next = valueAt(scan, next, depth + 1);
    if (next < 0) return next;
    next = skipSpace(bytes, next);
    if (bytes[next] === closing) return next + 1;
    next = commaAt(scan, next);
    if (next < 0) return next;
  }
}

/** Returns the position of the value after a colon. */
function colonAt(scan: JsonScan, from: number): number {
  const at = skipSpace(scan.bytes, from);
  if (at >= scan.bytes.length) return INCOMPLETE;
  return scan.bytes[at] === COLON ? skipSpace(scan.bytes, at + 1) : scan.fail(NO_JSON);
}

/** Returns the position of the member or element after a comma. */
function commaAt(scan: JsonScan, at: number): number {
  if (at >= scan.bytes.length) return INCOMPLETE;
  return scan.bytes[at] === COMMA ? skipSpace(scan.bytes, at + 1) : scan.fail(NO_JSON);
}

/** 1 for each hex digit. */
export const HEX_DIGITS = new Uint8Array(256);
for (const digit of Buffer.from("0123456789abcdefABCDEF")) HEX_DIGITS[digit] = 1;
export const ZERO = 0x30;
export const MINUS = 0x2d;
const LETTER_N = 0x6e;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LITERALS = ["true", "false", "null"].map((text) => Buffer.from(text));

export const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

function numberAt(scan: JsonScan, at: number): number {
  const { bytes } = scan;
  let end = at;
  let isPlain = true;
  while (end < bytes.length && !endsScalar(bytes[end]!)) isPlain = isDigit(bytes[end++]) && isPlain;
  if (end === bytes.length) return INCOMPLETE;
  isPlain &&= bytes[at] !== ZERO || end === at + 1;
  return isPlain || NUMBER.test(bytes.toString("latin1", at, end)) ? end : scan.fail(NO_JSON);
}

function literalAt(scan: JsonScan, at: number): number {
  for (const literal of LITERALS) {
    const end = endOfLiteral(scan.bytes, at, literal);
    if (end !== undefined) return end;
  }
  return scan.fail(NO_JSON);
}

/** Returns undefined for another text. */
function endOfLiteral(bytes: Buffer, at: number, literal: Buffer): number | undefined {
  for (let offset = 0; offset < literal.length; offset++) {
    if (at + offset >= bytes.length) return INCOMPLETE;
    if (bytes[at + offset] !== literal[offset]) return undefined;
  }
  return at + literal.length;
}

export const anyNumber: Check = (scan, at) => {
  if (at >= scan.bytes.length) return INCOMPLETE;
  const first = scan.bytes[at]!;
  return first === MINUS || isDigit(first) ? numberAt(scan, at) : scan.fail("is not a number");
};

export const anyBoolean: Check = (scan, at) => literalOf(scan, at, LITERALS.slice(0, 2), "is not a boolean");
export const onlyNull: Check = (scan, at) => literalOf(scan, at, LITERALS.slice(2), "is not null");

function literalOf(scan: JsonScan, at: number, literals: readonly Buffer[], violation: string): number {
  if (at >= scan.bytes.length) return INCOMPLETE;
  for (const literal of literals) {
    const end = endOfLiteral(scan.bytes, at, literal);
    if (end !== undefined) return end;
  }
  return scan.fail(violation);
}

/** Checks an array whose elements all pass. */
export function arrayOf(element: Check): Check {
  return (scan, at) => {
    const { bytes } = scan;
    if (at >= bytes.length) return INCOMPLETE;
    if (bytes[at] !== OPENING_BRACKET) return scan.fail("is not an array");
    let next = skipSpace(bytes, at + 1);
    if (bytes[next] === CLOSING_BRACKET) return next + 1;
    for (let index = 0; ; index++) {
      next = element(scan, next);
      if (next < 0) return next === INVALID ? scan.within(`[${index}]`) : next;
      next = skipSpace(bytes, next);
      if (bytes[next] === CLOSING_BRACKET) return next + 1;
      next = commaAt(scan, next);
      if (next < 0) return next;
    }
  };
}

/** A member of an object. */
export interface Member {
  readonly name: string;
  readonly check: Check;
  readonly isRequired: boolean;
}

/** Members beyond this number are not checked for duplicates and must be optional. */
const MAX_TRACKED_MEMBERS = 31;

/** Checks an object with these members. Others need only be valid JSON. */
export function objectOf(members: readonly Member[], other: Check = anyValue): Check {
  const names = members.map(({ name }) => new QuotedName(name));
  const checks = members.map(({ check }) => check);
  let required = 0;
  for (const [index, { isRequired, name }] of members.entries()) {
    if (isRequired && index >= MAX_TRACKED_MEMBERS) throw new Error(`Too many members before "${name}".`);
    if (isRequired) required |= 1 << index;
  }
  return (scan, at) => {
    const { bytes } = scan;
    if (at >= bytes.length) return INCOMPLETE;
    if (bytes[at] !== OPENING_BRACE) return scan.fail("is not an object");
    let seen = 0;
    let expected = 0;
    let next = skipSpace(bytes, at + 1);
    let isOver = bytes[next] === CLOSING_BRACE;
    while (!isOver) {
      const start = next;
      const index = findMember(names, scan.view, next, expected);
      next = index < 0 ? anyString(scan, next) : next + names[index]!.length;
      if (next < 0) return next;
      if (index < 0 && hasEscape(bytes, start, next)) {
        const name = JSON.parse(bytes.toString("utf8", start, next));
        if (members.some((member) => member.name === name)) return scan.fail(`has the member "${name}" with escapes`);
      }
      next = colonAt(scan, next);
      if (next < 0) return next;
      if (index >= 0) {
        const bit = index < MAX_TRACKED_MEMBERS ? 1 << index : 0;
        if ((seen & bit) !== 0) return scan.fail(`has the member "${members[index]!.name}" twice`);
        seen |= bit;
        expected = index + 1;
      }
      next = (index < 0 ? other : checks[index]!)(scan, next);
      if (next < 0) return next === INVALID ? scan.within(`.${memberName(bytes, start)}`) : next;
      next = skipSpace(bytes, next);
      isOver = bytes[next] === CLOSING_BRACE;
      if (isOver) break;
      next = commaAt(scan, next);
      if (next < 0) return next;
    }
    if ((seen & required) === required) return next + 1;
    const missing = members.findIndex((_, index) => (required & ~seen & (1 << index)) !== 0);
    return scan.fail(`has no member "${members[missing]!.name}"`);
  };
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** The name of a member, compared four bytes at a time. */
export class QuotedName {
  readonly length: number;
  /** Offsets and contents of its four-byte words. The last two may overlap. */
  readonly #offsets: readonly number[];
  readonly #words: readonly number[];

  constructor(name: string) {
    const bytes = Buffer.from(JSON.stringify(name));
    this.length = bytes.length;
    if (bytes.length < 4) throw new Error(`The name "${name}" is too short.`);
    const aligned = Array.from({ length: Math.floor(bytes.length / 4) }, (_, word) => 4 * word);
    this.#offsets = bytes.length % 4 === 0 ? aligned : [...aligned, bytes.length - 4];
    this.#words = this.#offsets.map((offset) => bytes.readInt32LE(offset));
  }

  isAt(view: DataView, at: number): boolean {
    if (at + this.length > view.byteLength) return false;
    for (let word = 0; word < this.#words.length; word++) {
      if (view.getInt32(at + this.#offsets[word]!, true) !== this.#words[word]) return false;
    }
    return true;
  }
}

/** Returns the index of the member whose name is at a position, or -1. Tries the expected one first. */
export function findMember(names: readonly QuotedName[], view: DataView, at: number, expected: number): number {
  if (expected < names.length && names[expected]!.isAt(view, at)) return expected;
  for (let index = 0; index < names.length; index++) if (names[index]!.isAt(view, at)) return index;
  return -1;
}

const MAX_SHOWN_NAME = 50;

function memberName(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(QUOTE, start + 1);
  return bytes.toString("utf8", start + 1, Math.min(end, start + 1 + MAX_SHOWN_NAME));
}

/** Checks a value that passes one of several checks. Reports the violation of the alternative that got furthest. */
export function anyOf(alternatives: readonly Check[]): Check {
  return (scan, at) => {
    let closest = { violation: "", path: "" };
    for (const check of alternatives) {
      const end = check(scan, at);
      if (end !== INVALID) return end;
      if (closest.violation === "" || scan.path.length > closest.path.length) {
        closest = { violation: scan.violation, path: scan.path };
      }
    }
    Object.assign(scan, closest);
    return INVALID;
  };
}
