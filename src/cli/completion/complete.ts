import { type Candidates, COMMON_FLAGS, type CompletionCommand, completionCommands } from "./candidates.ts";

interface Offer {
  word: string;
  description?: string;
}

interface Offers {
  words: readonly Offer[];
  paths: Candidates["paths"];
}

const NOTHING: Offers = { words: [], paths: "none" };

/**
 * Completes the last word, for use by the shell scripts. The first line of the result specifies which paths to offer.
 * Every other line is a word, followed by a tab and its description.
 */
export async function complete(commandLine: readonly string[]): Promise<string> {
  // Bash splits --flag=value at the "="; other shells do not.
  const last = commandLine.at(-1) === "=" ? "" : (commandLine.at(-1) ?? "");
  const [, flag, value = last] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const before = commandLine.slice(0, -1).filter((word) => word !== "=");
  const { words, paths } = await offersAfter(flag === undefined ? before : [...before, flag], value);
  const prefix = flag === undefined ? "" : `${flag}=`;
  const lines = words
    .filter(({ word }) => word.startsWith(value))
    .map(({ word, description }) => `${prefix}${word}${description === undefined ? "" : `\t${description}`}`);
  return [paths, ...lines].map((line) => `${line}\n`).join("");
}

/** Returns the words that may come next. */
async function offersAfter([name, ...words]: readonly string[], current: string): Promise<Offers> {
  const commands = completionCommands();
  if (name === undefined) {
    const first = commands.map(({ name, description }) => ({ word: name, description }));
    return { words: [...first, ...COMMON_FLAGS.map(flagOffer)], paths: "none" };
  }
  const command = commands.find((known) => known.name === name);
  if (command === undefined) return NOTHING;
  const { value, operandCount } = positionAfter(words, command);
  if (value !== undefined) return offersOf(value);
  if (current.startsWith("-")) return { words: command.flags.map(flagOffer), paths: "none" };
  const operand = command.operands[operandCount];
  return operand === undefined ? NOTHING : offersOf(operand);
}

/** Returns the value still missing from the last flag, and the number of operands. */
function positionAfter(words: readonly string[], { flags }: CompletionCommand) {
  let value: Candidates | undefined;
  let operandCount = 0;
  for (const word of words) {
    if (value !== undefined) {
      value = undefined;
      continue;
    }
    value = flags.find(({ written }) => written === word)?.value;
    if (!word.startsWith("-")) operandCount++;
  }
  return { value, operandCount };
}

async function offersOf({ words, paths }: Candidates): Promise<Offers> {
  if (words !== "methods") return { words: words.map((word) => ({ word })), paths };
  // Loaded only here, because loading the definitions takes longer than everything else.
  const { methods } = await import("../../api/method-groups.ts");
  const offers = methods.flatMap(({ name, aliases, summary }) =>
    [name, ...aliases].map((word) => ({ word, description: summary })),
  );
  return { words: offers, paths };
}

const flagOffer = ({ written, description }: { written: string; description: string }): Offer => ({
  word: written,
  description,
});
