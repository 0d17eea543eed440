import { IrregularNumber } from "./parse.ts";

/** True for an object of parsed JSON; false for an array and an `IrregularNumber`. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof IrregularNumber);
}
