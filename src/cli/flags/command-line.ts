import { Command, CommanderError, Option } from "commander";
import { usageError } from "../exit.ts";
import { COMMAND_NAMES, COMMANDS, type CommandDefinition, type CommandName } from "./commands.ts";
import { didYouMean } from "./did-you-mean.ts";
import { environmentName, type Flag, flagNames } from "./flag.ts";

/** What the arguments ask for: a command to run, or only words to print. */
export type CommandLine =
  | { kind: "run"; command: CommandName; given: Map<string, string[]>; operands?: string[] }
  | { kind: "print"; text: string; wasAskedFor: boolean };

const HELP_FLAGS = "-h, --help";
const VERSION_FLAGS = "-V, --version";
const SHORT_FLAGS = ["-h", "-V"];

const definitionOf = (command: CommandName): CommandDefinition => COMMANDS[command];
const commandFlags = (command: CommandName): Flag<unknown>[] => Object.values(definitionOf(command).flags);

function helpText(flag: Flag<unknown>): string {
  const facts = [`env: ${environmentName(flag.name)}`];
  if (flag.aliases.length > 0) facts.unshift(`also ${flag.aliases.map((alias) => `--${alias}`).join(", ")}`);
  if (flag.fallbackText !== undefined) facts.unshift(`default: ${flag.fallbackText}`);
  return `${flag.description} (${facts.join("; ")})`;
}

/** What is given by any of its names is kept under the name of the flag, in the order of the arguments. */
class FlagOption extends Option {
  readonly #flag: Flag<unknown>;

  constructor(usage: string, flag: Flag<unknown>) {
    super(usage, helpText(flag));
    this.#flag = flag;
  }

  override attributeName(): string {
    return this.#flag.name;
  }
}

function addFlag(command: Command, flag: Flag<unknown>): void {
  for (const name of flagNames(flag)) {
    const isAlias = name !== flag.name;
    const usage = flag.placeholder === undefined ? `--${name}` : `--${name} <${flag.placeholder}>`;
    const option = new FlagOption(usage, flag).hideHelp(isAlias);
    if (flag.kind === "list") {
      option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
    }
    command.addOption(option);
    if (flag.kind === "boolean") command.addOption(new FlagOption(`--no-${name}`, flag).hideHelp());
  }
}

function givenTexts(command: Command, flags: readonly Flag<unknown>[]): Map<string, string[]> {
  const given = new Map<string, string[]>();
  for (const { name } of flags) {
    const value: unknown = command.getOptionValue(name);
    if (value !== undefined) given.set(name, [value].flat().map(String));
  }
  return given;
}

/**
 * The arguments beside the flags. Those after a `--` are taken as they are; before it, one that looks like a flag is
 * one that is not known. A single dash and negative numbers do not look like flags.
 */
function operandsOf(command: CommandName, args: readonly string[], literalCount: number): string[] {
  const unknown = args
    .slice(0, args.length - literalCount)
    .find((argument) => argument.startsWith("-") && argument !== "-" && !/^-\.?\d/.test(argument));
  if (unknown !== undefined) throw unexpectedArgument(unknown, command);
  return [...args];
}

/** The flag as it was written, and the name in it. */
function flagOf(argument: string): { written: string; name: string } {
  const written = argument.split("=")[0]!;
  return { written, name: written.replace(/^-+(?:no-)?/, "") };
}

function ownersOf(flagName: string): CommandName[] {
  return COMMAND_NAMES.filter((command) => commandFlags(command).some((flag) => flagNames(flag).includes(flagName)));
}

function didYouMeanFlag(argument: string, names: readonly string[]): string {
  const { written, name } = flagOf(argument);
  const short = SHORT_FLAGS.find((flag) => flag.toLowerCase() === written.toLowerCase());
  return short === undefined ? didYouMean(name, ["help", "version", ...names], "--") : ` Did you mean ${short}?`;
}

/** Explains an argument that no flag of the command took. */
function unexpectedArgument(argument: string, command: CommandName): Error {
  if (!argument.startsWith("-")) {
    return usageError(`The argument "${argument}" is not expected: "fanal ${command}" takes nothing but flags.`);
  }
  const { written, name } = flagOf(argument);
  const owners = ownersOf(name);
  if (owners.includes(command)) {
    return usageError(`The flag ${written} cannot be written that way; "fanal ${command} --help" shows how it is.`);
  }
  if (owners[0] !== undefined) {
    return usageError(`The flag ${written} belongs to "fanal ${owners[0]}", not to "fanal ${command}".`);
  }
  const hint = didYouMeanFlag(written, commandFlags(command).flatMap(flagNames));
  return usageError(`The flag ${written} is not known.${hint || ` "fanal ${command} --help" lists the flags.`}`);
}

function unexpectedBeforeCommand(argument: string): Error {
  if (!argument.startsWith("-")) {
    const hint = didYouMean(argument, COMMAND_NAMES);
    return usageError(
      `The command "${argument}" is not known.${hint || ` The commands are ${COMMAND_NAMES.slice(0, -1).join(", ")} and ${COMMAND_NAMES.at(-1)}.`}`,
    );
  }
  const { written, name } = flagOf(argument);
  const [owner] = ownersOf(name);
  if (owner !== undefined) {
    return usageError(
      `The flag ${written} stands before the command; it must follow it, as in "fanal ${owner} ${written}".`,
    );
  }
  const names = COMMAND_NAMES.flatMap((command) => commandFlags(command).flatMap(flagNames));
  return usageError(
    `The flag ${written} is not known.${didYouMeanFlag(written, names) || ' "fanal --help" lists the commands.'}`,
  );
}

/** `help dev` is another way to write `dev --help`; the library would take an unknown command there for none. */
function withoutHelpCommand(argv: readonly string[]): string[] {
  const [first, topic = "help"] = argv;
  if (first !== "help") return [...argv];
  if (["help", "-h", "--help"].includes(topic)) return ["--help"];
  if (!Object.hasOwn(COMMANDS, topic)) throw unexpectedBeforeCommand(topic);
  return [topic, "--help"];
}

/** The library's own complaints; the only one left to it is that a flag at the end lacks its value. */
function refusal(error: CommanderError): Error {
  const flag = /'(--\S+) <(\S+)>'/.exec(error.message);
  return flag === null
    ? usageError(`The arguments cannot be understood (${error.message.replace(/^error: /, "")}).`, error)
    : usageError(`The flag ${flag[1]} needs a value: ${flag[1]} ${flag[2]}.`, error);
}

/** Takes the arguments apart, without those of node and of the script. Throws a `StartupError` for what it cannot take. */
export function parseCommandLine(argv: readonly string[], version: string): CommandLine {
  let printed = "";
  let result: CommandLine | undefined;

  // Left-over arguments are let through to be explained here, where the flags of all commands are known.
  const lenient = (command: Command) =>
    command
      .exitOverride()
      .allowUnknownOption()
      .allowExcessArguments()
      .configureHelp({
        subcommandTerm: (subcommand) => subcommand.name(),
        styleTitle: (title) => (title === "Options:" ? "Flags:" : title),
      })
      .configureOutput({ writeOut: (text) => (printed += text), writeErr: () => {} })
      .version(`fanal ${version}`, VERSION_FLAGS, "Print the version")
      .helpOption(HELP_FLAGS, "Print this help");

  const program = lenient(new Command("fanal"))
    .description("An Ethereum beacon node whose first-class interface is JSON-RPC 2.0.")
    .usage("<command> [flags]")
    // What follows a command is its own, so that a `--` among it reaches the command.
    .enablePositionalOptions()
    .helpCommand("help [command]", "Print the help of a command")
    .action((_options: unknown, command: Command) => {
      const first = command.args[0];
      if (first !== undefined) throw unexpectedBeforeCommand(first);
      result = { kind: "print", text: command.helpInformation(), wasAskedFor: false };
    });

  const terminator = argv.indexOf("--");
  const literalCount = terminator === -1 ? 0 : argv.length - terminator - 1;

  for (const name of COMMAND_NAMES) {
    const flags = commandFlags(name);
    const { description, operands: operandWords, notes } = definitionOf(name);
    const command = lenient(program.command(name))
      .description(description)
      .usage(operandWords === undefined ? "[flags]" : `${operandWords} [flags]`)
      .addHelpText("after", notes)
      .action((_options: unknown, parsed: Command) => {
        const run = { kind: "run", command: name, given: givenTexts(parsed, flags) } as const;
        if (operandWords !== undefined) {
          result = { ...run, operands: operandsOf(name, parsed.args, literalCount) };
          return;
        }
        const first = parsed.args[0];
        if (first !== undefined) throw unexpectedArgument(first, name);
        result = run;
      });
    for (const flag of flags) addFlag(command, flag);
  }

  try {
    program.parse(withoutHelpCommand(argv), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw refusal(error);
  }
  return result ?? { kind: "print", text: printed, wasAskedFor: true };
}
