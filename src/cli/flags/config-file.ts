import { readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { parse as parseToml, TomlError } from "smol-toml";
import { parseYaml } from "../../runtime/load-yaml.ts";
import { usageError } from "../exit.ts";
import { COMMAND_NAMES, COMMANDS, type CommandName } from "./commands.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { describeValue, isShownKey, nearestSetting } from "./describe-value.ts";
import { type Flag, type FlagTable, flagNames } from "./flag.ts";
import type { GATEWAY_SECTIONS } from "./gateway/gateway-schema.ts";
import { CONFIG_FILE_FLAG } from "./shared-flags.ts";

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n")[0]!.replace(/[.:]$/, "");
}

/** Keys with structured values, which are validated by a schema of their own. */
const SECTION_NAMES: Partial<Record<CommandName, readonly (keyof typeof GATEWAY_SECTIONS)[]>> = {
  gateway: ["upstreams", "clients", "methods"],
};

/** Reads the keys and values of a config file. */
export function readConfigDocument(path: string): object {
  const document = readDocument(path);
  if (typeof document === "object" && document !== null && !Array.isArray(document)) return document;
  throw usageError(`The config file ${path} must hold keys and values, such as "rpc-port: 9190".`);
}

function readDocument(path: string): unknown {
  const extension = extname(path).toLowerCase();
  if (![".yaml", ".yml", ".toml"].includes(extension)) {
    throw usageError(`Unsupported config file ${path}. Its name must end in .yaml, .yml or .toml.`);
  }
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`The config file ${path} cannot be read: ${reasonOf(error)}.`, error);
  }
  try {
    // YAML scalars remain strings and are parsed by the flags: a graffiti of 0x1234 is not the number 4660.
    return extension === ".toml" ? parseToml(text) : (parseYaml(text) ?? {});
  } catch (error) {
    // The error is not attached as the cause, because it contains lines from the file.
    throw usageError(`The config file ${path} is not valid: ${syntaxProblem(error)}.`);
  }
}

/** Describes a syntax error without quoting the file, which may contain secrets. */
function syntaxProblem(error: unknown): string {
  if (!(error instanceof TomlError)) return reasonOf(error);
  const kind = reasonOf(error).replace(/^Invalid TOML document: /, "");
  return `${kind} at line ${error.line}, column ${error.column}`;
}

const KIND_WORDS = {
  boolean: "true or false",
  number: "a number",
  numberOrText: "a number or a text",
  text: "a text",
  list: "a list of texts",
} as const;

function scalarText(value: unknown, flag: Flag<unknown>): string | undefined {
  if (typeof value === "string") return value;
  const fits =
    typeof value === "boolean"
      ? flag.kind === "boolean"
      : typeof value === "number" && flag.kind !== "boolean" && flag.kind !== "text";
  return fits ? String(value) : undefined;
}

/** Returns the texts of a value. Reports values of the wrong type and returns undefined for them. */
function valueTexts(
  value: unknown,
  flag: Flag<unknown>,
  key: string,
  problems: ConfigProblems,
): (string | undefined)[] {
  const isList = flag.kind === "list" && Array.isArray(value);
  return (isList ? value : [value]).map((item: unknown, index) => {
    const text = scalarText(item, flag);
    if (text !== undefined) return text;
    const problem = `must be ${isList ? "a text" : KIND_WORDS[flag.kind]}, got ${describeValue(item)}`;
    problems.report(isList ? [key, index] : [key], problem, [flag.name]);
    return undefined;
  });
}

function reportUnknownKey(key: string, command: CommandName, known: readonly string[], problems: ConfigProblems): void {
  const owner = COMMAND_NAMES.find((name) =>
    Object.values<Flag<unknown>>(COMMANDS[name].flags).some((flag) => flagNames(flag).includes(key)),
  );
  if (owner !== undefined) {
    problems.report([key], `belongs to "fanal ${owner}", not to "fanal ${command}"; remove it`);
    return;
  }
  const nearest = nearestSetting(key, known);
  if (nearest !== undefined) problems.addMeant(nearest);
  const help = `"fanal ${command} --help" lists the flags`;
  if (isShownKey(key, nearest)) {
    problems.report([key], `is unknown; ${nearest === undefined ? help : `did you mean ${nearest}?`}`);
  } else {
    const problem = `has a key that is not a setting; write KEY: VALUE, with a space after the colon. ${help}`;
    problems.report([], problem, []);
  }
}

/** Reads the config file. Returns unparsed values by flag name. */
export function readConfigFile(
  path: string,
  workingDirectory: string,
  command: CommandName,
  problems: ConfigProblems,
): Map<string, (string | undefined)[]> {
  const document = readConfigDocument(resolve(workingDirectory, path));
  problems.setFile(path, document);
  const table: FlagTable = COMMANDS[command].flags;
  const sections: readonly string[] = SECTION_NAMES[command] ?? [];
  const flags = new Map<string, Flag<unknown>>();
  for (const flag of Object.values(table)) {
    if (flag.name === CONFIG_FILE_FLAG.name) continue;
    for (const name of flagNames(flag)) flags.set(name, flag);
  }
  const found = new Map<string, (string | undefined)[]>();
  for (const [key, value] of Object.entries(document)) {
    const flag = flags.get(key);
    if (key === CONFIG_FILE_FLAG.name) {
      problems.report([key], "is not allowed: a config file cannot include another one; remove it");
    } else if (sections.includes(key)) {
      // Sections are read by their schemas.
    } else if (flag === undefined) {
      reportUnknownKey(key, command, [...flags.keys(), ...sections], problems);
    } else if (found.has(flag.name)) {
      problems.report([key], `sets --${flag.name} twice, once by an alias; remove one`);
    } else {
      found.set(flag.name, valueTexts(value, flag, key, problems));
    }
  }
  return found;
}
