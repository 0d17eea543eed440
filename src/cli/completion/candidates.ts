import { DB_ACTIONS } from "../db/actions.ts";
import { COMMANDS, type CommandDefinition, type CommandName, FIRST_COMMAND_NAMES } from "../flags/commands.ts";
import type { Flag } from "../flags/flag.ts";
import { GATEWAY_ACTIONS } from "../gateway/operands.ts";
import { SHELLS } from "./shells.ts";

/** Completion candidates at one position. */
export interface Candidates {
  readonly words: readonly string[];
  readonly paths: "none" | "files" | "directories";
}

/** A flag as completed by the shell. */
export interface CompletionFlag {
  /** Name with its leading dashes. */
  readonly written: string;
  readonly description: string;
  readonly isRepeatable: boolean;
  /** Undefined for a flag without a value. */
  readonly value?: Candidates & { readonly placeholder: string };
}

export interface CompletionCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly CompletionFlag[];
  /** Positional arguments, in order. */
  readonly operands: readonly Candidates[];
}

const once = (written: string, description: string) => ({ written, description, isRepeatable: false });
const words = (offered: readonly string[]): Candidates => ({ words: offered, paths: "none" });

/** Flags of every command and of the program itself. */
export const COMMON_FLAGS: readonly CompletionFlag[] = [
  once("-h", "Print the help"),
  once("--help", "Print the help"),
  once("-V", "Print the version"),
  once("--version", "Print the version"),
];

/** Returns all commands with their flags and operands, for the completion scripts. */
export function completionCommands(methodNames: readonly string[]): CompletionCommand[] {
  const commands = FIRST_COMMAND_NAMES.map((name) => {
    const { description, flags }: CommandDefinition = COMMANDS[name];
    const own = Object.values(flags).flatMap(completedFlags);
    return { name, description, flags: [...own, ...COMMON_FLAGS], operands: operandsOf(name, methodNames) };
  });
  return [
    ...commands,
    { name: "help", description: "Print the help of a command", flags: [], operands: [words(FIRST_COMMAND_NAMES)] },
  ];
}

function operandsOf(command: CommandName, methodNames: readonly string[]): Candidates[] {
  if (command === "call" || command === "methods") return [words(methodNames)];
  if (command === "gateway") return [words(GATEWAY_ACTIONS), { words: [], paths: "files" }];
  if (command === "dev") return [words(["keys"]), words(["export"]), { words: [], paths: "directories" }];
  if (command === "db") return [words(DB_ACTIONS), { words: [], paths: "files" }];
  return command === "completion" ? [words(SHELLS)] : [];
}

function completedFlags({ name, kind, placeholder, description, choices = [] }: Flag<unknown>): CompletionFlag[] {
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
