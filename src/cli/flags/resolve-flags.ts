import { resolve } from "node:path";
import { usageError } from "../exit.ts";
import { COMMANDS, type CommandName } from "./commands.ts";
import { readConfigFile } from "./config-file.ts";
import { environmentName, type Flag, type FlagTable, type FlagValues, flagNames } from "./flag.ts";
import { FlagValueError, withoutCredentials } from "./flag-values.ts";
import { CONFIG_FILE_FLAG } from "./shared-flags.ts";
import { rejectUnknownVariables } from "./unknown-variables.ts";

export interface FlagSources {
  /** Values on the command line, by flag name. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
}

/** Unparsed values and their source, for error messages. */
interface Written {
  readonly texts: readonly string[];
  readonly place: string;
}

function writtenOutsideFile(flag: Flag<unknown>, { given, environment }: FlagSources): Written | undefined {
  const texts = given.get(flag.name);
  if (texts !== undefined) return { texts, place: `--${flag.name}` };
  for (const variable of flagNames(flag).map(environmentName)) {
    const text = environment[variable];
    // An empty variable counts as unset.
    if (text !== undefined && text !== "") return { texts: [text], place: `the environment variable ${variable}` };
  }
  return undefined;
}

function readValue<T>(flag: Flag<T>, written: Written | undefined): T {
  if (written === undefined) return flag.fallback;
  try {
    return flag.read(written.texts);
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    const value = withoutCredentials(written.texts.join(", "));
    throw usageError(`The value "${value}" of ${written.place} is not accepted: ${error.message}.`, error);
  }
}

/** Resolves the values of all flags of a command. Precedence: command line, environment, config file, default. */
export function resolveFlags<Name extends CommandName>(
  command: Name,
  sources: FlagSources,
): FlagValues<(typeof COMMANDS)[Name]["flags"]> {
  rejectUnknownVariables(sources.environment);
  const table: FlagTable = COMMANDS[command].flags;
  const takesFile = Object.values(table).includes(CONFIG_FILE_FLAG);
  const configFile = takesFile ? readValue(CONFIG_FILE_FLAG, writtenOutsideFile(CONFIG_FILE_FLAG, sources)) : undefined;
  const fromFile =
    configFile === undefined
      ? new Map<string, string[]>()
      : readConfigFile(resolve(sources.workingDirectory, configFile), command);

  const values: Record<string, unknown> = {};
  for (const [key, flag] of Object.entries(table)) {
    const texts = fromFile.get(flag.name);
    const inFile = texts && { texts, place: `the key "${flag.name}" in the config file ${configFile}` };
    values[key] = readValue(flag, writtenOutsideFile(flag, sources) ?? inFile);
  }
  return values as FlagValues<(typeof COMMANDS)[Name]["flags"]>;
}
