import { IrregularNumber } from "./parse.ts";

/** Returns true for a parsed JSON object, but not for an array or an `IrregularNumber`. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof IrregularNumber);
}
