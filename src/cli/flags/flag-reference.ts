import { COMMAND_NAMES, COMMANDS, type CommandDefinition } from "./commands.ts";
import { environmentName, type Flag } from "./flag.ts";

const INTRODUCTION = `# Commands and flags

<!-- Made by "npm run docs" from the flags of the commands. Changes here are lost: make them there. -->

\`npm run fanal -- COMMAND FLAGS\` runs the command line from the checkout. A flag beats its environment variable, which
beats the config file, which beats the default. Of a flag that is given twice, be it by two of its names, the last counts; of a
repeatable one all do, in their order. Every command also takes \`-h\` (\`--help\`) and \`-V\` (\`--version\`).`;

const cell = (text: string) => text.replaceAll("|", "\\|");

function row(flag: Flag<unknown>): string {
  const value = flag.placeholder === undefined ? "" : ` ${flag.placeholder}`;
  const names = [`\`--${flag.name}${value}\``, ...flag.aliases.map((alias) => `\`--${alias}\``)].join(", ");
  const fallback = flag.fallbackText ?? (flag.kind === "boolean" ? "off" : "");
  return `| ${[names, fallback, `\`${environmentName(flag.name)}\``, flag.description].map(cell).join(" | ")} |`;
}

/** The text of docs/flags.md: the flags of all commands. */
export function flagReference(): string {
  const sections = COMMAND_NAMES.map((name) => {
    const { description, flags, operands }: CommandDefinition = COMMANDS[name];
    const usage = operands === undefined ? name : `${name} ${operands}`;
    const rows = Object.values(flags).map(row);
    const head = ["", "| Flag | Default | Environment | Meaning |", "|---|---|---|---|"];
    const table = rows.length === 0 ? [] : [...head, ...rows];
    return [`## \`fanal ${usage}\``, "", `${description}.`, ...table].join("\n");
  });
  return `${[INTRODUCTION, ...sections].join("\n\n")}\n`;
}
