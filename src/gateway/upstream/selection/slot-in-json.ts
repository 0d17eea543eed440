import {
  COMMA,
  endOfString,
  endOfValue,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  skipSpace,
} from "../../../json/value-bounds.ts";

/** Members that wrap an object with a slot: headers, blocks, attestations, aggregates and slashings. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "signed_block",
  "header",
  "message",
  "aggregate",
  "data",
  "attestation_1",
  "attestation_2",
]);
/** Nesting of a list of signed aggregates or headers. */
const MAX_LEVELS = 5;
const MAX_NUMBER_LENGTH = 24;

/**
 * Returns the slot of a JSON object, or of the first object of a list. Ignores slots of nested objects. Members can
 * have any order.
 */
export function slotInJson(text: Buffer): number | undefined {
  return slotAt(text, skipSpace(text, 0), MAX_LEVELS);
}

function slotAt(bytes: Buffer, start: number, levels: number): number | undefined {
  if (levels === 0) return undefined;
  let at = skipSpace(bytes, start + 1);
  if (bytes[start] === OPENING_BRACKET) return slotAt(bytes, at, levels - 1);
  if (bytes[start] !== OPENING_BRACE) return undefined;
  while (bytes[at] === QUOTE) {
    const afterName = endOfString(bytes, at);
    if (afterName === undefined) return undefined;
    const name = bytes.toString("latin1", at + 1, afterName - 1);
    const value = skipSpace(bytes, skipSpace(bytes, afterName) + 1);
    if (name === "slot") return numberAt(bytes, value);
    const slot = WRAPPERS.has(name) ? slotAt(bytes, value, levels - 1) : undefined;
    if (slot !== undefined) return slot;
    const next = skipSpace(bytes, endOfValue(bytes, value) ?? bytes.length);
    if (bytes[next] !== COMMA) return undefined;
    at = skipSpace(bytes, next + 1);
  }
  return undefined;
}

function numberAt(bytes: Buffer, start: number): number | undefined {
  const digits = /^"?(\d+)/.exec(bytes.toString("latin1", start, start + MAX_NUMBER_LENGTH))?.[1];
  return digits === undefined ? undefined : Number(digits);
}
