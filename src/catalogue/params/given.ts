import { IrregularNumber } from "../../json/irregular-number.ts";

const SHOWN_CHARACTERS = 40;

/** What a caller gave, as an error message shows it: recognisable, but never longer than a few words. */
export function describeGiven(value: unknown): string {
  if (value instanceof IrregularNumber) return `the number ${shorten(value.source)}`;
  if (typeof value === "string") return JSON.stringify(shorten(value));
  if (typeof value === "number") return `the number ${value}`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

function shorten(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
