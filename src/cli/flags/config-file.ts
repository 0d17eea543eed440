import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { parse as parseToml } from "smol-toml";
import { loadYaml } from "../../runtime/load-yaml.ts";
import { usageError } from "../exit.ts";
import { COMMAND_NAMES, COMMANDS, type CommandName } from "./commands.ts";
import { nearestFlag } from "./did-you-mean.ts";
import { type Flag, type FlagTable, flagNames } from "./flag.ts";
import { GATEWAY_SECTION_NAMES } from "./gateway/section-names.ts";
import { CONFIG_FILE_FLAG } from "./shared-flags.ts";

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n")[0]!.replace(/[.:]$/, "");
}

/** Keys with structured values, which are validated by their own schema. */
const SECTION_NAMES: Partial<Record<CommandName, readonly string[]>> = { gateway: GATEWAY_SECTION_NAMES };

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
    // YAML scalars stay strings for the flags to parse: a graffiti 0x1234 is not the number 4660.
    return extension === ".toml" ? parseToml(text) : (loadYaml().parse(text, { schema: "failsafe" }) ?? {});
  } catch (error) {
    throw usageError(`The config file ${path} is not valid: ${reasonOf(error)}.`, error);
  }
}

const KIND_WORDS = { boolean: "true or false", number: "a number", text: "a text", list: "a list of texts" } as const;

function scalarText(value: unknown, flag: Flag<unknown>): string | undefined {
  if (typeof value === "string") return value;
  const fits =
    (flag.kind === "boolean" && typeof value === "boolean") || (flag.kind === "number" && typeof value === "number");
  return fits ? String(value) : undefined;
}

function valueTexts(value: unknown, flag: Flag<unknown>, path: string): string[] {
  const items = flag.kind === "list" && Array.isArray(value) ? value : [value];
  return items.map((item) => {
    const text = scalarText(item, flag);
    if (text !== undefined) return text;
    throw usageError(`The key "${flag.name}" in the config file ${path} must be ${KIND_WORDS[flag.kind]}.`);
  });
}

function unknownKey(key: string, path: string, command: CommandName, known: Iterable<string>): Error {
  const owner = COMMAND_NAMES.find((name) =>
    Object.values<Flag<unknown>>(COMMANDS[name].flags).some((flag) => flagNames(flag).includes(key)),
  );
  if (owner !== undefined && owner !== command) {
    return usageError(
      `The key "${key}" in the config file ${path} belongs to "fanal ${owner}", not to "fanal ${command}".`,
    );
  }
  const nearest = nearestFlag(key, known);
  const hint =
    nearest === undefined ? `"fanal ${command} --help" lists the flags.` : `Did you mean "${nearest}" (--${nearest})?`;
  return usageError(`Unknown key "${key}" in the config file ${path}. ${hint}`);
}

/** Reads the config file: unparsed values by flag name. */
export function readConfigFile(path: string, command: CommandName): Map<string, string[]> {
  const document = readConfigDocument(path);
  const table: FlagTable = COMMANDS[command].flags;
  const flags = new Map<string, Flag<unknown>>();
  for (const flag of Object.values(table)) {
    if (flag.name === CONFIG_FILE_FLAG.name) continue;
    for (const name of flagNames(flag)) flags.set(name, flag);
  }
  const found = new Map<string, string[]>();
  for (const [key, value] of Object.entries(document)) {
    if (key === CONFIG_FILE_FLAG.name) {
      throw usageError(
        `The key "${key}" is not allowed in the config file ${path}. A config file cannot include another one.`,
      );
    }
    const flag = flags.get(key);
    if (SECTION_NAMES[command]?.includes(key)) continue;
    if (flag === undefined) throw unknownKey(key, path, command, flags.keys());
    if (found.has(flag.name)) {
      throw usageError(`The config file ${path} sets --${flag.name} twice, once by an alias.`);
    }
    found.set(flag.name, valueTexts(value, flag, path));
  }
  return found;
}
