import { DB_ACTIONS } from "../db/actions.ts";
import { COMMANDS, type CommandDefinition, type CommandName, FIRST_COMMAND_NAMES } from "../flags/commands.ts";
import type { Flag } from "../flags/flag.ts";
import { GATEWAY_ACTIONS } from "../gateway/operands.ts";
import { SHELLS } from "./shells.ts";

/** Completion candidates at a given position. */
export interface Candidates {
  /** The candidates for "methods" are loaded on demand. */
  readonly words: readonly string[] | "methods";
  readonly paths: "none" | "files" | "directories";
}

/** A flag, as completed by the shell. */
export interface CompletionFlag {
  /** Name, including leading dashes. */
  readonly written: string;
  readonly description: string;
  /** Undefined for a flag without a value. */
  readonly value?: Candidates;
}

export interface CompletionCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly CompletionFlag[];
  /** Positional arguments, in order. */
  readonly operands: readonly Candidates[];
}

const words = (offered: Candidates["words"]): Candidates => ({ words: offered, paths: "none" });

/** Flags accepted by every command and by the program itself. */
export const COMMON_FLAGS: readonly CompletionFlag[] = [
  { written: "-h", description: "Print the help" },
  { written: "--help", description: "Print the help" },
  { written: "-V", description: "Print the version" },
  { written: "--version", description: "Print the version" },
];

/** Returns all commands with their flags and operands. */
export function completionCommands(): CompletionCommand[] {
  const commands = FIRST_COMMAND_NAMES.map((name) => {
    const { description, flags }: CommandDefinition = COMMANDS[name];
    const commandFlags = Object.values(flags).flatMap(completedFlags);
    return { name, description, flags: [...commandFlags, ...COMMON_FLAGS], operands: operandsOf(name) };
  });
  return [
    ...commands,
    { name: "help", description: "Print the help of a command", flags: [], operands: [words(FIRST_COMMAND_NAMES)] },
  ];
}

function operandsOf(command: CommandName): Candidates[] {
  if (command === "call" || command === "methods") return [words("methods")];
  if (command === "gateway") return [words(GATEWAY_ACTIONS), { words: [], paths: "files" }];
  if (command === "dev") return [words(["keys"]), words(["export"]), { words: [], paths: "directories" }];
  if (command === "db") return [words(DB_ACTIONS), { words: [], paths: "files" }];
  return command === "completion" ? [words(SHELLS)] : [];
}

function completedFlags({ name, placeholder, description, choices = [] }: Flag<unknown>): CompletionFlag[] {
  if (placeholder === undefined) {
    return [
      { written: `--${name}`, description },
      { written: `--no-${name}`, description: `Switch --${name} off` },
    ];
  }
  const kinds = placeholder.split("|");
  const paths = kinds.includes("FILE") ? "files" : kinds.includes("DIR") ? "directories" : "none";
  return [{ written: `--${name}`, description, value: { words: choices, paths } }];
}
