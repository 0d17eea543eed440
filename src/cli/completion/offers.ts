import { DB_ACTIONS } from "../db/actions.ts";
import { COMMAND_NAMES, COMMANDS, type CommandDefinition, type CommandName } from "../flags/commands.ts";
import type { Flag } from "../flags/flag.ts";
import { SHELLS } from "./shells.ts";

/** What a shell offers in one place. */
export interface Offer {
  readonly words: readonly string[];
  readonly paths: "none" | "files" | "directories";
}

/** A way to write a flag. */
export interface CompletedFlag {
  /** With its dashes. */
  readonly written: string;
  readonly description: string;
  readonly isRepeatable: boolean;
  /** Undefined for a flag that takes no value. */
  readonly value?: Offer & { readonly placeholder: string };
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly CompletedFlag[];
  /** What stands beside the flags, by its place. */
  readonly operands: readonly Offer[];
}

const once = (written: string, description: string) => ({ written, description, isRepeatable: false });
const words = (offered: readonly string[]): Offer => ({ words: offered, paths: "none" });

/** What every command takes, and the program without one. */
export const COMMON_FLAGS: readonly CompletedFlag[] = [
  once("-h", "Print the help"),
  once("--help", "Print the help"),
  once("-V", "Print the version"),
  once("--version", "Print the version"),
];

/** Everything that can be completed after `fanal`. */
export function completedCommands(methodNames: readonly string[]): CompletedCommand[] {
  const commands = COMMAND_NAMES.map((name) => {
    const { description, flags }: CommandDefinition = COMMANDS[name];
    const own = Object.values(flags).flatMap(completedFlags);
    return { name, description, flags: [...own, ...COMMON_FLAGS], operands: operandsOf(name, methodNames) };
  });
  return [
    ...commands,
    { name: "help", description: "Print the help of a command", flags: [], operands: [words(COMMAND_NAMES)] },
  ];
}

function operandsOf(command: CommandName, methodNames: readonly string[]): Offer[] {
  if (command === "call" || command === "methods") return [words(methodNames)];
  if (command === "db") return [words(DB_ACTIONS), { words: [], paths: "files" }];
  return command === "completion" ? [words(SHELLS)] : [];
}

function completedFlags({ name, kind, placeholder, description, choices = [] }: Flag<unknown>): CompletedFlag[] {
  if (placeholder === undefined) {
    return [once(`--${name}`, description), once(`--no-${name}`, `Switch --${name} off`)];
  }
  const kinds = placeholder.split("|");
  const paths = kinds.includes("FILE") ? "files" : kinds.includes("DIR") ? "directories" : "none";
  return [
    {
      written: `--${name}`,
      description,
      isRepeatable: kind === "list",
      value: { words: choices, paths, placeholder },
    },
  ];
}
