import { isJsonObject } from "../../json/json-object.ts";
import { printable } from "./printable.ts";

export interface FormatOptions {
  /** Abbreviates long hex strings to their first and last digits. */
  shortenHex: boolean;
}

/** Maximum length, in characters, of a list of scalars printed on one line. */
const MAX_INLINE_LIST = 60;
const LONG_HEX = /^0x[0-9a-fA-F]{25,}$/;
const STEP = "  ";

/**
 * Formats a JSON value for human readers: aligned members, tables for lists of objects, and indentation for everything
 * else.
 */
export function* formatLines(value: unknown, options: FormatOptions, indent = ""): Generator<string> {
  const inline = inlineText(value, options);
  if (inline !== undefined) yield `${indent}${inline}`;
  else if (Array.isArray(value)) yield* arrayLines(value, options, indent);
  else yield* objectLines(value as Record<string, unknown>, options, indent);
}

function* objectLines(object: Record<string, unknown>, options: FormatOptions, indent: string): Generator<string> {
  const members = Object.entries(object).map(([name, value]) => {
    return { name: printable(name), value, inline: inlineText(value, options) };
  });
  let width = 0;
  for (const { name, inline } of members) if (inline !== undefined) width = Math.max(width, name.length);
  for (const { name, value, inline } of members) {
    if (inline !== undefined) {
      yield `${indent}${name.padEnd(width)}${STEP}${inline}`;
    } else {
      yield `${indent}${name}`;
      yield* formatLines(value, options, indent + STEP);
    }
  }
}

function* arrayLines(array: readonly unknown[], options: FormatOptions, indent: string): Generator<string> {
  const rows = array.map((item) => cellsOf(item, options));
  if (rows.every((row) => row !== undefined)) {
    yield* tableLines(rows, indent);
    return;
  }
  for (const item of array) {
    const bullet = `${indent}- `;
    let isFirst = true;
    for (const line of formatLines(item, options, indent + STEP)) {
      yield isFirst ? bullet + line.slice(bullet.length) : line;
      isFirst = false;
    }
  }
}

/** Returns the table cells of an object, or undefined if any member needs more than one line. */
function cellsOf(item: unknown, options: FormatOptions): Map<string, string> | undefined {
  if (!isJsonObject(item) || Object.keys(item).length === 0) return undefined;
  const cells = new Map<string, string>();
  for (const [name, value] of Object.entries(item)) {
    const inline = inlineText(value, options);
    if (inline === undefined) return undefined;
    cells.set(printable(name), inline);
  }
  return cells;
}

function* tableLines(rows: readonly Map<string, string>[], indent: string): Generator<string> {
  const widths = new Map<string, number>();
  for (const row of rows) {
    for (const [name, text] of row) widths.set(name, Math.max(widths.get(name) ?? name.length, text.length));
  }
  const line = (cellOf: (name: string) => string) =>
    (indent + Array.from(widths, ([name, width]) => cellOf(name).padEnd(width)).join(STEP)).trimEnd();
  yield line((name) => name);
  for (const row of rows) yield line((name) => row.get(name) ?? "");
}

/** Returns the value on one line, or undefined if it needs several lines. */
function inlineText(value: unknown, options: FormatOptions): string | undefined {
  if (!isJsonObject(value) && !Array.isArray(value)) return scalarText(value, options);
  if (!Array.isArray(value)) return Object.keys(value).length === 0 ? "{}" : undefined;
  if (value.length > MAX_INLINE_LIST || value.some((item) => isJsonObject(item) || Array.isArray(item)))
    return undefined;
  const list = `[${value.map((item) => scalarText(item, options)).join(", ")}]`;
  return list.length <= MAX_INLINE_LIST ? list : undefined;
}

function scalarText(value: unknown, { shortenHex }: FormatOptions): string {
  if (typeof value !== "string") return String(value);
  if (shortenHex && LONG_HEX.test(value)) return `${value.slice(0, 10)}…${value.slice(-8)}`;
  return printable(value);
}
