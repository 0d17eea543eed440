import { IrregularNumber } from "../../json/parse.ts";
import { printable } from "./printable.ts";

export interface ReadableOptions {
  /** Whether long hex strings are shown by their ends only. */
  shortenHex: boolean;
}

/** Lists of plain values up to this many characters stand on one line. */
const LONGEST_INLINE_LIST = 60;
const LONG_HEX = /^0x[0-9a-fA-F]{25,}$/;
const STEP = "  ";

/** A JSON value as lines for people: aligned members, tables, and indentation for the rest. */
export function* readableLines(value: unknown, options: ReadableOptions, indent = ""): Generator<string> {
  const inline = inlineText(value, options);
  if (inline !== undefined) yield `${indent}${inline}`;
  else if (Array.isArray(value)) yield* arrayLines(value, options, indent);
  else yield* objectLines(value as Record<string, unknown>, options, indent);
}

function* objectLines(object: Record<string, unknown>, options: ReadableOptions, indent: string): Generator<string> {
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
      yield* readableLines(value, options, indent + STEP);
    }
  }
}

function* arrayLines(array: readonly unknown[], options: ReadableOptions, indent: string): Generator<string> {
  const rows = array.map((item) => cellsOf(item, options));
  if (rows.every((row) => row !== undefined)) {
    yield* tableLines(rows, indent);
    return;
  }
  for (const item of array) {
    const bullet = `${indent}- `;
    let isFirst = true;
    for (const line of readableLines(item, options, indent + STEP)) {
      yield isFirst ? bullet + line.slice(bullet.length) : line;
      isFirst = false;
    }
  }
}

/** The members of an object that fits into one row of a table. */
function cellsOf(item: unknown, options: ReadableOptions): Map<string, string> | undefined {
  if (!isObject(item) || Object.keys(item).length === 0) return undefined;
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

/** The value on one line, or undefined when it needs more. */
function inlineText(value: unknown, options: ReadableOptions): string | undefined {
  if (!isObject(value) && !Array.isArray(value)) return scalarText(value, options);
  if (!Array.isArray(value)) return Object.keys(value).length === 0 ? "{}" : undefined;
  if (value.length > LONGEST_INLINE_LIST || value.some((item) => isObject(item) || Array.isArray(item)))
    return undefined;
  const list = `[${value.map((item) => scalarText(item, options)).join(", ")}]`;
  return list.length <= LONGEST_INLINE_LIST ? list : undefined;
}

function scalarText(value: unknown, { shortenHex }: ReadableOptions): string {
  if (typeof value !== "string") return String(value);
  if (shortenHex && LONG_HEX.test(value)) return `${value.slice(0, 10)}…${value.slice(-8)}`;
  return printable(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof IrregularNumber);
}
