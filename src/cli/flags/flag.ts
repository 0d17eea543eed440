import { truth } from "./flag-values.ts";

/** Value type in a config file. Numbers and booleans can also be written as strings. */
type FlagKind = "boolean" | "number" | "numberOrText" | "text" | "list";

/** Definition of a setting, used for the command line, environment, config file, help and reference. */
export interface Flag<T> {
  /** Name in kebab-case, without leading dashes. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: FlagKind;
  /** Value placeholder in the help; undefined for a flag without a value. */
  readonly placeholder: string | undefined;
  readonly description: string;
  /** Values offered by shell completion. The list may be incomplete. */
  readonly choices?: readonly string[];
  readonly fallback: T;
  /** Default value, as shown in the help. */
  readonly fallbackText: string | undefined;
  /** Parses the values; only lists can have several. Throws a `FlagValueError` if a value is invalid. */
  read(texts: readonly string[]): T;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<Table extends FlagTable> = {
  [Key in keyof Table]: Table[Key] extends Flag<infer T> ? T : never;
};

/** One flag per settings field. A field without a flag, or a flag without a field, does not compile. */
export type FlagsOf<Settings> = { readonly [Key in keyof Required<Settings>]: Flag<Settings[Key]> };

/** Picks the values for a flag table from those of a command. */
export function valuesOf<Table extends FlagTable>(table: Table, values: FlagValues<Table>): FlagValues<Table> {
  const picked = Object.keys(table).map((key) => [key, values[key]]);
  return Object.fromEntries(picked) as FlagValues<Table>;
}

/** Returns the names of the flags whose values differ from their defaults. */
export function changedFlags(table: FlagTable, values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(table).flatMap(([key, { fallback, name }]) => (values[key] === fallback ? [] : [name]));
}

interface FlagWords {
  name: string;
  aliases?: readonly string[];
  placeholder: string;
  description: string;
  choices?: readonly string[];
  fallbackText?: string;
}

export function booleanFlag(words: { name: string; description: string; fallback?: boolean }): Flag<boolean> {
  const { fallback = false } = words;
  return {
    ...words,
    aliases: [],
    kind: "boolean",
    placeholder: undefined,
    fallback,
    fallbackText: fallback ? `on, off with --no-${words.name}` : undefined,
    read: (texts) => truth(texts.at(-1) ?? ""),
  };
}

/** A flag whose default depends on other settings. */
export function undecidedFlag(words: {
  name: string;
  description: string;
  fallbackText: string;
}): Flag<boolean | undefined> {
  return { ...booleanFlag(words), fallback: undefined, fallbackText: words.fallbackText };
}

interface ValueWords<T, Fallback> extends FlagWords {
  kind: "number" | "numberOrText" | "text";
  fallback: Fallback;
  parse(text: string): T;
}

export function valueFlag<T, const Fallback>(words: ValueWords<T, Fallback>): Flag<T | Fallback> {
  const { parse, aliases = [], fallback, fallbackText, ...rest } = words;
  return {
    ...rest,
    aliases,
    fallback,
    fallbackText: fallbackText ?? (fallback === undefined ? undefined : String(fallback)),
    read: (texts) => parse(texts.at(-1) ?? ""),
  };
}

export function listFlag<T>(words: FlagWords & { parse(text: string): T }): Flag<readonly T[]> {
  const { parse, aliases = [], fallbackText, ...rest } = words;
  return {
    ...rest,
    aliases,
    kind: "list",
    fallback: [],
    fallbackText,
    read: (texts) => texts.flatMap((text) => text.split(",")).map((text) => parse(text.trim())),
  };
}

export function environmentName(flagName: string): string {
  return `FANAL_${flagName.toUpperCase().replaceAll("-", "_")}`;
}

/** Returns the name and all aliases of a flag. */
export function flagNames(flag: Flag<unknown>): string[] {
  return [flag.name, ...flag.aliases];
}
