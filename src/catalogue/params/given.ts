const SHOWN_CHARACTERS = 40;

/** What a caller gave, as an error message shows it: recognisable, but never longer than a few words. */
export function describeGiven(value: unknown): string {
  if (isIrregularNumber(value)) return `the number ${shorten(value.source)}`;
  if (typeof value === "string") return JSON.stringify(shorten(value));
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/**
 * Whether the door kept a JSON number as its text, because it is fractional, in exponent form or beyond 2^53-1. The
 * catalogue does not know the door, so it goes by the shape; an object out of JSON never has a class of its own.
 */
export function isIrregularNumber(value: unknown): value is { source: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    value.constructor?.name === "IrregularNumber" &&
    typeof (value as { source?: unknown }).source === "string"
  );
}

function shorten(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
