import { truth } from "./flag-values.ts";

/** What a config file may hold under a flag's name: `number` and `boolean` also as such, the others only as text. */
type FlagKind = "boolean" | "number" | "text" | "list";

/** One setting, from which the command line, the environment, the config file, the help and the reference all derive. */
export interface Flag<T> {
  /** In kebab-case, without the dashes in front. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: FlagKind;
  /** Stands for the value in the help; undefined for a flag that takes none. */
  readonly placeholder: string | undefined;
  readonly description: string;
  /** Values that shells complete; where there are others too, the placeholder says so. */
  readonly choices?: readonly string[];
  readonly fallback: T;
  /** The default in words. */
  readonly fallbackText: string | undefined;
  /** Takes what was written (more than one text only for a list) or throws a `FlagValueError`. */
  read(texts: readonly string[]): T;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<Table extends FlagTable> = {
  [Key in keyof Table]: Table[Key] extends Flag<infer T> ? T : never;
};

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
    fallbackText: fallback ? `on, --no-${words.name} turns it off` : undefined,
    read: (texts) => truth(texts.at(-1) ?? ""),
  };
}

interface ValueWords<T, Fallback> extends FlagWords {
  kind: "number" | "text";
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

/** Every name a flag may be called by. */
export function flagNames(flag: Flag<unknown>): string[] {
  return [flag.name, ...flag.aliases];
}
