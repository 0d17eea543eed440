import type { ConfigProblems } from "../config-problems.ts";
import { describeValue, isShownKey, nearestSetting, shownText, valueProblem } from "../describe-value.ts";
import { nearestFlag } from "../did-you-mean.ts";
import { FlagValueError, wholeNumber as wholeNumberFlag, wholeNumberRange } from "../flag-values.ts";

/** Reads a value at a place of a config file. Reports a problem and returns undefined if it is invalid. */
export type Reader<T> = (value: unknown, place: string, problems: ConfigProblems) => T | undefined;
export type Read<R> = R extends Reader<infer T> ? T : never;

/** Reads text with a parser that throws `FlagValueError`. */
export function text<T>(parse: (text: string) => T): Reader<T> {
  return (value, place, problems) => {
    if (typeof value === "string") return parsed(parse, value, place, problems);
    problems.report(place, `must be a text, got ${describeValue(value)}`);
    return undefined;
  };
}

function parsed<T>(parse: (text: string) => T, value: string, place: string, problems: ConfigProblems): T | undefined {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    problems.report(place, valueProblem(error.message, value));
    return undefined;
  }
}

/** Creates a parser of texts that match a pattern. */
export function matching(pattern: RegExp, what: string): (text: string) => string {
  return (value) => {
    if (pattern.test(value)) return value;
    throw new FlagValueError(`it must be ${what}`);
  };
}

/** Reads secret text. Problems do not show it. */
export function secret(pattern: RegExp, what: string): Reader<string> {
  return (value, place, problems) => {
    if (typeof value === "string" && pattern.test(value)) return value;
    problems.report(place, `must be ${what}`);
    return undefined;
  };
}

/** Reads a whole number. YAML scalars arrive as strings, TOML numbers as numbers. */
export function wholeNumber(least: number, most?: number, unit?: string): Reader<number> {
  const parse = wholeNumberFlag(least, most, unit);
  return (value, place, problems) => {
    if (typeof value === "string" || typeof value === "number") return parsed(parse, String(value), place, problems);
    problems.report(place, `must be ${wholeNumberRange(least, most, unit)}, got ${describeValue(value)}`);
    return undefined;
  };
}

/** Reads a list. Invalid items are undefined. */
export function list<T>(item: Reader<T>, example: string): Reader<(T | undefined)[]> {
  return (value, place, problems) => {
    if (Array.isArray(value)) return value.map((element, index) => item(element, `${place}[${index}]`, problems));
    problems.report(place, `must be a list, as in ${example}, got ${describeValue(value)}`);
    return undefined;
  };
}

/** Reads a list that is not empty. `effect` is that of leaving it out. */
export function nonEmptyList<T>(item: Reader<T>, example: string, effect: string): Reader<(T | undefined)[]> {
  const readList = list(item, example);
  return (value, place, problems) => {
    const items = readList(value, place, problems);
    if (items?.length === 0) problems.report(place, `must not be empty; remove it for ${effect}, or write ${example}`);
    return items;
  };
}

/** Reads a map with free keys, which `parseKey` parses. Invalid entries are left out. */
export function map<T>(
  parseKey: (text: string) => string,
  item: Reader<T>,
  example: string,
): Reader<ReadonlyMap<string, T>> {
  return (value, place, problems) => {
    const entries = entriesOf(value, place, example, problems);
    if (entries === undefined) return undefined;
    const found = new Map<string, T>();
    // Of names that are not shown. Without a space after the colon, the value is part of the name.
    const complaints = new Set<string>();
    for (const [written, element] of entries) {
      const at = `${place}.${written}`;
      let key: string;
      try {
        key = parseKey(written);
      } catch (error) {
        if (!(error instanceof FlagValueError)) throw error;
        if (error.message.startsWith("it must be")) complaints.add(error.message.replace("it must be", "that is not"));
        else problems.report(at, error.message);
        continue;
      }
      if (element === "" || element === null) {
        complaints.add("without a value");
        continue;
      }
      const read = item(element, at, problems);
      if (read === undefined) continue;
      if (found.has(key)) problems.report(at, `is given twice, in upper and lower case; remove one`);
      found.set(key, read);
    }
    for (const complaint of complaints) {
      problems.report(place, `has a name ${complaint}; write ${example}, with a space after the colon`);
    }
    return found;
  };
}

type Fields = Readonly<Record<string, Reader<unknown>>>;

interface ObjectOptions {
  example: string;
  /** Keys that must be given. */
  required?: readonly string[];
}

/** Reads a map with known keys. Invalid and missing values are undefined. */
export function object<F extends Fields>(
  fields: F,
  { example, required = [] }: ObjectOptions,
): Reader<{ [Key in keyof F]?: Read<F[Key]> | undefined }> {
  return (value, place, problems) => {
    const entries = entriesOf(value, place, example, problems);
    if (entries === undefined) return undefined;
    const found: Record<string, unknown> = {};
    const meant = new Set<string>();
    for (const [key, element] of entries) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field !== undefined) {
        found[key] = field(element, `${place}.${key}`, problems);
        meant.add(key);
        continue;
      }
      const names = Object.keys(fields);
      const nearest = nearestSetting(key, names);
      const at = `${place}.${key}`;
      const invalid = nearest === undefined || Object.hasOwn(value as object, nearest) ? at : `${place}.${nearest}`;
      if (isShownKey(key, nearest)) {
        const hint = nearest === undefined ? `known are ${names.join(", ")}` : `did you mean ${nearest}?`;
        problems.report(at, `is unknown; ${hint}`, invalid);
      } else {
        const problem = `has a key that is not a setting; write ${example}, with a space after the colon`;
        problems.report(place, problem, invalid);
      }
      if (nearest !== undefined) meant.add(nearest);
    }
    for (const key of required) {
      if (!meant.has(key)) problems.report(`${place}.${key}`, `is missing; write it as in ${example}`);
    }
    return found as { [Key in keyof F]?: Read<F[Key]> };
  };
}

/** Reads one of several words. */
export function oneOf<const T extends string>(choices: readonly T[]): Reader<T> {
  return (value, place, problems) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const nearest = typeof value === "string" ? nearestFlag(value, choices) : undefined;
    const got = typeof value === "string" && value !== "" ? shownText(value) : describeValue(value);
    const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    problems.report(place, `must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}, got ${got}${hint}`);
    return undefined;
  };
}

function entriesOf(
  value: unknown,
  place: string,
  example: string,
  problems: ConfigProblems,
): [string, unknown][] | undefined {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
  if (isMap) return Object.entries(value);
  problems.report(place, `must be a map, as in ${example}, got ${describeValue(value)}`);
  return undefined;
}
