import { OperationalError } from "../errors/operational-error.ts";

/**
 * Turns what callers put into the fields of a record into something every format can write: bytes become hex, integers
 * too large for JSON become decimal strings, and what JSON would lose (`Infinity`, for one the far future epoch) is kept as
 * a word.
 */
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

/** Deeper than this lies no fact for a log line, but perhaps an object that contains itself. */
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

/** The stack of an error followed by the stacks of what caused it; null where nobody needs them. */
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
