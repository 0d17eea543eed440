import type { Readable, Writable } from "node:stream";
import { VERSION } from "../../runtime/version.ts";
import { resolveConnection, runCallCommand } from "../call/command.ts";
import { paramTexts } from "../call/params.ts";
import { NoResponseError } from "../call/request.ts";
import { EXIT_CODES, StartupError, usageError } from "../exit.ts";
import { parseCommandLine } from "../flags/command-line.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import type { FlagSources } from "../flags/resolve-flags.ts";
import type { Terminal } from "../terminal.ts";
import { type Connection, discover, type Names } from "./discovery.ts";
import { History, historyFile, MAX_LINES } from "./history.ts";
import { type Completion, Prompt } from "./prompt.ts";
import { splitWords } from "./split-words.ts";
import { printEvents } from "./subscription.ts";

const OWN_WORDS = ["help", "subscribe", ".exit"];

/** Input and echo streams of the console. */
export interface ConsoleStreams {
  input: Readable;
  output: Writable;
  isInteractive: boolean;
}

const processStreams = (): ConsoleStreams => ({
  input: process.stdin,
  output: process.stdout,
  isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
});

/** Runs `fanal console`: executes input lines against a node and returns the exit code. */
export async function runConsole(
  sources: FlagSources,
  terminal: Terminal,
  streams = processStreams(),
): Promise<number> {
  const connection = resolveConnection(sources);
  const { isInteractive } = streams;
  const history = isInteractive ? new History(historyFile(sources.environment)) : undefined;
  const completionNames = new CompletionNames(connection);
  const prompt = new Prompt({
    ...streams,
    history: history?.lines ?? [],
    historySize: MAX_LINES,
    complete: (line) => completionNames.complete(line),
  });
  const session = new Session(sources, terminal, prompt);
  try {
    if (isInteractive) {
      const url = withoutCredentials(connection.url);
      await session.attempt(async (signal) => {
        const { methods } = await completionNames.load(signal);
        terminal.writeError(`${methods.length} methods at ${url}. TAB completes, help explains, .exit ends.\n`);
        return EXIT_CODES.ok;
      });
    }
    for (;;) {
      const line = await prompt.next();
      if (line === undefined || line.trim() === ".exit") break;
      history?.add(line);
      await session.run(line);
    }
    if (isInteractive) await terminal.write("\n");
    return isInteractive ? EXIT_CODES.ok : session.lastFailure;
  } finally {
    prompt.close();
  }
}

class Session {
  readonly #sources: FlagSources;
  readonly #terminal: Terminal;
  readonly #prompt: Prompt;
  lastFailure: number = EXIT_CODES.ok;

  constructor(sources: FlagSources, terminal: Terminal, prompt: Prompt) {
    this.#sources = sources;
    this.#prompt = prompt;
    this.#terminal = {
      ...terminal,
      readInput: () => Promise.reject(usageError("Standard input is read by the console. Give the JSON as @FILE.")),
    };
  }

  /** Executes a line and records whether it failed. */
  async run(line: string): Promise<void> {
    if (line.startsWith("#")) return;
    const isSubscription = /^\s*subscribe(\s|$)/.test(line);
    await this.attempt(async (signal) => this.#do(splitWords(line), signal), { endsWithLine: isSubscription });
  }

  /** Runs interruptible work. Prints known errors instead of throwing them. */
  async attempt(work: (signal: AbortSignal) => Promise<number>, options = {}): Promise<void> {
    await this.#prompt.interruptible(async (signal) => {
      const code = await work(signal).catch((error: unknown) => this.#explain(error, signal));
      if (code !== EXIT_CODES.ok) this.lastFailure = code;
    }, options);
  }

  #explain(error: unknown, signal: AbortSignal): number {
    if (signal.aborted) {
      this.#terminal.writeError("Cancelled.\n");
      return EXIT_CODES.ok;
    }
    const reported = error instanceof NoResponseError ? new StartupError("noAnswer", error.message, error) : error;
    if (!(reported instanceof StartupError)) throw reported;
    this.#terminal.writeError(`fanal: ${reported.message}\n`);
    return reported.exitCode;
  }

  async #do(words: readonly string[], signal: AbortSignal): Promise<number> {
    const [first, ...rest] = words;
    if (first === undefined) return EXIT_CODES.ok;
    if (first === "help") return this.#help(rest);
    const line = parseCommandLine(["call", ...words], VERSION);
    if (line.kind === "print") {
      await this.#terminal.write(line.text);
      return EXIT_CODES.ok;
    }
    const { operands = [], flagTexts } = line;
    const sources = { ...this.#sources, flagTexts: new Map([...this.#sources.flagTexts, ...flagTexts]) };
    return first === "subscribe"
      ? this.#subscribe(operands.slice(1), sources, signal)
      : runCallCommand(operands, sources, this.#terminal, { signal });
  }

  async #help(words: readonly string[]): Promise<number> {
    if (words.length === 0) {
      const line = parseCommandLine(["console", "--help"], VERSION);
      if (line.kind === "print") await this.#terminal.write(line.text);
      return EXIT_CODES.ok;
    }
    const { describeMethods } = await import("../methods/methods.ts");
    await this.#terminal.write(await describeMethods(words, { json: false }));
    return EXIT_CODES.ok;
  }

  async #subscribe(words: readonly string[], sources: FlagSources, signal: AbortSignal): Promise<number> {
    const { workingDirectory } = sources;
    const texts = await paramTexts(words, { workingDirectory, readInput: this.#terminal.readInput });
    const topics = texts.length === 1 && texts[0]!.startsWith("[") ? texts[0]! : `[${texts.join(",")}]`;
    const onStart = () => {
      const end = this.#prompt.isInteractive ? "Enter or Ctrl-C" : "the next line or the end of the input";
      this.#terminal.writeError(`Printing events until ${end}.\n`);
      this.#prompt.endWithInput();
    };
    return printEvents({ ...resolveConnection(sources), topics, onStart }, this.#terminal, signal);
  }
}

/** Names for completion, loaded from the node. A failed load is retried on the next completion. */
class CompletionNames {
  readonly #connection: Connection;
  #names: Names | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async load(signal?: AbortSignal): Promise<Names> {
    this.#names ??= await discover(this.#connection, signal);
    return this.#names;
  }

  async complete(line: string): Promise<Completion> {
    const part = /\S*$/.exec(line)![0];
    const before = line
      .slice(0, line.length - part.length)
      .trim()
      .split(/\s+/)[0]!;
    const words = this.#words(before, await this.load().catch(() => ({ methods: [], topics: [] })));
    const candidates = [...new Set(words)].filter((word) => word.startsWith(part));
    return { candidates: candidates.length === 1 ? [`${candidates[0]} `] : candidates, part };
  }

  /** Returns the candidates for the first word, or for the words that follow. */
  #words(first: string, { methods, topics }: Names): string[] {
    if (first === "") return [...OWN_WORDS, ...methods];
    if (first === "help") return methods;
    return first === "subscribe" ? topics : [];
  }
}
