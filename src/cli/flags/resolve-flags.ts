import { usageError } from "../exit.ts";
import { COMMANDS, type CommandName } from "./commands.ts";
import { readConfigFile } from "./config-file.ts";
import { ConfigProblems } from "./config-problems.ts";
import { shownText, valueProblem } from "./describe-value.ts";
import { environmentName, type Flag, type FlagTable, type FlagValues, flagNames } from "./flag.ts";
import { FlagValueError } from "./flag-values.ts";
import { CONFIG_FILE_FLAG } from "./shared-flags.ts";
import { reportUnknownVariables } from "./unknown-variables.ts";

export interface FlagSources {
  /** Values from the command line, by flag name. */
  readonly flagTexts: ReadonlyMap<string, readonly string[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
}

type CommandValues<Name extends CommandName> = FlagValues<(typeof COMMANDS)[Name]["flags"]>;

/** Unparsed values and their origin, for error messages. */
interface UnparsedValue {
  /** Undefined for a value that has already been reported. */
  readonly texts: readonly (string | undefined)[];
  /** Key in the config file. Undefined for a flag or an environment variable, which are named by `origin`. */
  readonly key?: string;
  readonly origin?: string;
}

function valueOutsideFile(flag: Flag<unknown>, { flagTexts, environment }: FlagSources): UnparsedValue | undefined {
  const texts = flagTexts.get(flag.name);
  if (texts !== undefined) return { texts, origin: `--${flag.name}` };
  for (const variable of flagNames(flag).map(environmentName)) {
    const text = environment[variable];
    // An empty variable counts as unset.
    if (text !== undefined && text !== "") return { texts: [text], origin: `the environment variable ${variable}` };
  }
  return undefined;
}

/** Parses a value. Reports invalid texts and returns the default instead. */
function readValue<T>(flag: Flag<T>, { texts, ...source }: UnparsedValue, problems: ConfigProblems): T {
  try {
    const valid = texts.filter((text) => text !== undefined);
    if (valid.length < texts.length && flag.kind !== "list") return flag.fallback;
    return flag.read(valid);
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
  }
  for (const [index, text] of texts.entries()) {
    // A flag that takes a single value uses the last text.
    if (text === undefined || (flag.kind !== "list" && index < texts.length - 1)) continue;
    try {
      flag.read([text]);
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      const { message } = error;
      if (source.key === undefined) {
        const sentence = `The value ${shownText(text)} of ${source.origin} is not accepted: ${message}.`;
        problems.reject(usageError(sentence, error), { invalid: flag.name, isOutside: true });
      } else {
        const path = texts.length > 1 ? [source.key, index] : [source.key];
        problems.report(path, valueProblem(message, text), [flag.name]);
      }
    }
  }
  return flag.fallback;
}

/** Resolves all flag values for a command. Precedence: command line, environment, config file, default. */
export function resolveFlags<Name extends CommandName>(command: Name, sources: FlagSources): CommandValues<Name> {
  const problems = new ConfigProblems();
  const values = readFlags(command, sources, problems);
  problems.throwIfAny();
  return values;
}

/** Like `resolveFlags`, but reports problems. Flags with problems get their default values. */
export function readFlags<Name extends CommandName>(
  command: Name,
  sources: FlagSources,
  problems: ConfigProblems,
): CommandValues<Name> {
  reportUnknownVariables(sources.environment, problems);
  const table: FlagTable = COMMANDS[command].flags;
  const resolveFlag = <T>(flag: Flag<T>, inFile?: UnparsedValue): T => {
    const outside = valueOutsideFile(flag, sources);
    if (outside !== undefined) problems.addOutside(flag.name);
    const unparsed = outside ?? inFile;
    return unparsed === undefined ? flag.fallback : readValue(flag, unparsed, problems);
  };
  const takesFile = Object.values(table).includes(CONFIG_FILE_FLAG);
  const configFile = takesFile ? resolveFlag(CONFIG_FILE_FLAG) : undefined;
  const fromFile =
    configFile === undefined
      ? new Map<string, (string | undefined)[]>()
      : readConfigFile(configFile, sources.workingDirectory, command, problems);

  const values: Record<string, unknown> = {};
  for (const [key, flag] of Object.entries(table)) {
    const texts = fromFile.get(flag.name);
    values[key] = flag === CONFIG_FILE_FLAG ? configFile : resolveFlag(flag, texts && { texts, key: flag.name });
  }
  return values as CommandValues<Name>;
}
