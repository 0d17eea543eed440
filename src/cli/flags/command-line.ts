import { Command, CommanderError, Option } from "commander";
import { usageError } from "../exit.ts";
import { COMMAND_NAMES, COMMANDS, type CommandDefinition, type CommandName, FIRST_COMMAND_NAMES } from "./commands.ts";
import { ANVIL_FLAGS, ANVIL_SHORT_FLAGS } from "./dev/anvil-flags.ts";
import { didYouMean } from "./did-you-mean.ts";
import { environmentName, type Flag, flagNames } from "./flag.ts";
import { flagGroups } from "./flag-groups.ts";

/** Parsed command line: a command to run, or text to print. */
export type CommandLine =
  | { kind: "run"; command: CommandName; flagTexts: Map<string, string[]>; operands?: string[] }
  | { kind: "print"; text: string; isRequested: boolean };

const HELP_FLAGS = "-h, --help";
const VERSION_FLAGS = "-V, --version";
const SHORT_FLAGS = ["-h", "-V"];

const definitionOf = (command: CommandName): CommandDefinition => COMMANDS[command];
const commandFlags = (command: CommandName): Flag<unknown>[] => Object.values(definitionOf(command).flags);

function helpText(flag: Flag<unknown>): string {
  const details = [`env: ${environmentName(flag.name)}`];
  if (flag.aliases.length > 0) details.unshift(`also ${flag.aliases.map((alias) => `--${alias}`).join(", ")}`);
  if (flag.fallbackText !== undefined) details.unshift(`default: ${flag.fallbackText}`);
  return `${flag.description} (${details.join("; ")})`;
}

/** Option that stores the values of all its aliases under the flag's name, in order. */
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

function addFlag(command: Command, flag: Flag<unknown>, heading: string): void {
  for (const name of flagNames(flag)) {
    const isAlias = name !== flag.name;
    const usage = flag.placeholder === undefined ? `--${name}` : `--${name} <${flag.placeholder}>`;
    const option = new FlagOption(usage, flag).hideHelp(isAlias).helpGroup(heading);
    if (flag.kind === "list") {
      option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
    }
    command.addOption(option);
    if (flag.kind === "boolean") {
      command.addOption(new FlagOption(`--no-${name}`, flag).hideHelp().helpGroup(heading));
    }
  }
}

function givenTexts(command: Command, flags: readonly Flag<unknown>[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const { name } of flags) {
    const value: unknown = command.getOptionValue(name);
    if (value !== undefined) texts.set(name, [value].flat().map(String));
  }
  return texts;
}

/**
 * Returns the positional arguments. Arguments after `--` are literal. Before `--`, anything that looks like a flag is
 * rejected as unknown, except for a single dash and negative numbers.
 */
function operandsOf(command: CommandName, args: readonly string[], literalCount: number): string[] {
  const unknown = args
    .slice(0, args.length - literalCount)
    .find((argument) => argument.startsWith("-") && argument !== "-" && !/^-\.?\d/.test(argument));
  if (unknown !== undefined) throw unexpectedArgument(unknown, command);
  return [...args];
}

/** Splits an argument into the part before `=` and the flag's name. */
function flagOf(argument: string): { argumentName: string; name: string } {
  const argumentName = argument.split("=")[0]!;
  return { argumentName, name: argumentName.replace(/^-+(?:no-)?/, "") };
}

function ownersOf(flagName: string): CommandName[] {
  return COMMAND_NAMES.filter((command) => commandFlags(command).some((flag) => flagNames(flag).includes(flagName)));
}

function didYouMeanFlag(argument: string, names: readonly string[]): string {
  const { argumentName, name } = flagOf(argument);
  const short = SHORT_FLAGS.find((flag) => flag.toLowerCase() === argumentName.toLowerCase());
  return short === undefined ? didYouMean(name, ["help", "version", ...names], "--") : ` Did you mean ${short}?`;
}

/** Creates the error for an unexpected command argument. */
function unexpectedArgument(argument: string, command: CommandName): Error {
  if (!argument.startsWith("-")) {
    return usageError(`Unexpected argument "${argument}": "fanal ${command}" takes only flags.`);
  }
  const { argumentName, name } = flagOf(argument);
  const owners = ownersOf(name);
  if (owners.includes(command)) {
    return usageError(`Invalid use of the flag ${argumentName}. "fanal ${command} --help" shows its syntax.`);
  }
  if (owners[0] !== undefined) {
    return usageError(`The flag ${argumentName} belongs to "fanal ${owners[0]}", not to "fanal ${command}".`);
  }
  const anvilNote = command === "dev" ? ANVIL_FLAGS.get(ANVIL_SHORT_FLAGS.get(name) ?? name) : undefined;
  if (anvilNote !== undefined) return usageError(`Unknown flag ${argumentName}. Anvil's ${argumentName} ${anvilNote}.`);
  const hint = didYouMeanFlag(argumentName, commandFlags(command).flatMap(flagNames));
  return usageError(`Unknown flag ${argumentName}.${hint || ` "fanal ${command} --help" lists the flags.`}`);
}

function unexpectedBeforeCommand(argument: string): Error {
  if (!argument.startsWith("-")) {
    const hint = didYouMean(argument, FIRST_COMMAND_NAMES);
    const names = FIRST_COMMAND_NAMES;
    const commands = ` The commands are ${names.slice(0, -1).join(", ")} and ${names.at(-1)}.`;
    return usageError(`Unknown command "${argument}".${hint || commands}`);
  }
  const { argumentName, name } = flagOf(argument);
  const [owner] = ownersOf(name);
  if (owner !== undefined) {
    return usageError(`The flag ${argumentName} must follow the command, as in "fanal ${owner} ${argumentName}".`);
  }
  const names = COMMAND_NAMES.flatMap((command) => commandFlags(command).flatMap(flagNames));
  return usageError(
    `Unknown flag ${argumentName}.${didYouMeanFlag(argumentName, names) || ' "fanal --help" lists the commands.'}`,
  );
}

/** Rewrites `help dev` to `dev --help`, since Commander would ignore an unknown command after `help`. */
function withoutHelpCommand(argv: readonly string[]): string[] {
  const [first, topic = "help", ...more] = argv;
  if (first !== "help") return [...argv];
  if (["help", "-h", "--help"].includes(topic)) return ["--help"];
  const words = Object.hasOwn(COMMANDS, `${topic} ${more[0]}`) ? [topic, more[0]!] : topic.split(" ");
  if (!Object.hasOwn(COMMANDS, words.join(" "))) throw unexpectedBeforeCommand(topic);
  return [...words, "--help"];
}

/** Converts a Commander error. Commander reports only missing flag values; all other errors are detected here. */
function refusal(error: CommanderError): Error {
  const flag = /'(--\S+) <(\S+)>'/.exec(error.message);
  return flag === null
    ? usageError(`Invalid arguments: ${error.message.replace(/^error: /, "")}.`, error)
    : usageError(`The flag ${flag[1]} requires a value: ${flag[1]} ${flag[2]}.`, error);
}

/** Parses the arguments after the script name. Throws a `StartupError` if they are invalid. */
export function parseCommandLine(argv: readonly string[], version: string): CommandLine {
  let printed = "";
  let result: CommandLine | undefined;

  // Unknown arguments are accepted here and reported later, once the flags of all commands are known.
  const lenient = (command: Command) =>
    command
      .exitOverride()
      .allowUnknownOption()
      .allowExcessArguments()
      .configureHelp({
        subcommandTerm: (subcommand) => subcommand.name(),
      })
      .configureOutput({ writeOut: (text) => (printed += text), writeErr: () => {} });
  const addStandardFlags = (command: Command) =>
    command.version(`fanal ${version}`, VERSION_FLAGS, "Print the version").helpOption(HELP_FLAGS, "Print this help");

  const program = addStandardFlags(lenient(new Command("fanal")).optionsGroup("Flags:"))
    .description("An Ethereum beacon node whose first-class interface is JSON-RPC 2.0.")
    .usage("<command> [flags]")
    // Passes on a `--` that follows the command.
    .enablePositionalOptions()
    .helpCommand("help [command]", "Print the help of a command")
    .action((_options: unknown, command: Command) => {
      const first = command.args[0];
      if (first !== undefined) throw unexpectedBeforeCommand(first);
      result = { kind: "print", text: command.helpInformation(), isRequested: false };
    });

  const terminator = argv.indexOf("--");
  const literalCount = terminator === -1 ? 0 : argv.length - terminator - 1;

  const commands = new Map<string, Command>();
  for (const name of COMMAND_NAMES) {
    const [first, second] = name.split(" ");
    const parent = second === undefined ? program : commands.get(first!)!.helpCommand(false);
    const flags = commandFlags(name);
    const { description, operands: operandWords, notes } = definitionOf(name);
    const command = lenient(parent.command(second ?? name))
      .description(description)
      .usage(operandWords === undefined ? "[flags]" : `${operandWords} [flags]`)
      .addHelpText("after", notes)
      .action((_options: unknown, parsed: Command) => {
        const run = { kind: "run", command: name, flagTexts: givenTexts(parsed, flags) } as const;
        if (operandWords !== undefined) {
          result = { ...run, operands: operandsOf(name, parsed.args, literalCount) };
          return;
        }
        const first = parsed.args[0];
        if (first !== undefined) throw unexpectedArgument(first, name);
        result = run;
      });
    commands.set(name, command);
    const groups = flagGroups(definitionOf(name));
    for (const group of groups) for (const flag of group.flags) addFlag(command, flag, `${group.title}:`);
    addStandardFlags(command.optionsGroup(`${groups.at(-1)!.title}:`));
  }

  try {
    program.parse(withoutHelpCommand(argv), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw refusal(error);
  }
  return result ?? { kind: "print", text: printed, isRequested: true };
}
