import { IrregularNumber } from "./parse.ts";

/** True for an object of parsed JSON, which is neither a list nor a number beyond those of JavaScript. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof IrregularNumber);
}
