import { OperationalError } from "../errors/operational-error.ts";

/** Converts a field to a JSON value: bytes to hex, bigints to decimal strings, `Infinity` and `NaN` to words. */
export function plainLogValue(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "function":
    case "symbol":
      return String(value);
    case "object":
      return value === null ? null : plainObject(value, depth);
    default:
      return value;
  }
}

/** Nesting limit, which also breaks circular references. */
const MAX_DEPTH = 6;

function plainObject(value: object, depth: number): unknown {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  if (value instanceof Error) return plainError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value) || value instanceof Set) return [...value].map((inner) => plainLogValue(inner, depth + 1));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, inner]) => [String(key), plainLogValue(inner, depth + 1)]));
}

function plainError(error: Error): unknown {
  const { name: type, message } = error;
  const stack = errorStack(error);
  return stack === null ? { type, message } : { type, message, stack };
}

/** Returns the stack traces of an error and its causes, or null for an operational error. */
export function errorStack(error: Error): string | null {
  if (error instanceof OperationalError) return null;
  const parts: string[] = [];
  const seen = new Set<unknown>();
  let current: unknown = error;
  while (current instanceof Error && !seen.has(current)) {
    seen.add(current);
    parts.push(current.stack ?? `${current.name}: ${current.message}`);
    current = current.cause;
  }
  return parts.join("\nCaused by: ");
}
