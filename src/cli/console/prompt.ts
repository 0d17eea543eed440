import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Completion candidates for part of the line. */
export interface Completion {
  candidates: string[];
  part: string;
}

export interface PromptOptions {
  input: Readable;
  output: Writable;
  /** True on a terminal, where a prompt is shown. */
  isInteractive: boolean;
  /** Previous lines, newest last. */
  history: readonly string[];
  historySize: number;
  complete(line: string): Promise<Completion>;
}

interface Running {
  abort: AbortController;
  endsWithLine: boolean;
}

/** Reads input lines one at a time, and interrupts running work on Ctrl-C. */
export class Prompt {
  readonly isInteractive: boolean;
  readonly #readline: Interface;
  readonly #output: Writable;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #running: Running | undefined;
  #isClosed = false;

  constructor({ input, output, isInteractive, history, historySize, complete }: PromptOptions) {
    this.#output = output;
    this.isInteractive = isInteractive;
    this.#readline = isInteractive
      ? createInterface({
          input,
          output,
          terminal: true,
          prompt: "fanal> ",
          history: history.toReversed(),
          historySize,
          completer: (line: string, done: (error: null, result: [string[], string]) => void) =>
            void complete(line).then(({ candidates, part }) => done(null, [candidates, part])),
        })
      : createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
    this.#readline.on("line", (line) => this.#take(line));
    this.#readline.on("close", () => this.#end());
    this.#readline.on("SIGINT", () => this.#interrupt());
  }

  /** Returns the next line, or undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#isClosed) return line;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#waiting = resolve;
    if (this.isInteractive) this.#readline.prompt();
    else this.#readline.resume();
    return promise;
  }

  /** Runs work that can be aborted with Ctrl-C or Ctrl-D and, if `endsWithLine` is set, with Enter. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>, { endsWithLine = false } = {}): Promise<T> {
    const abort = new AbortController();
    this.#running = { abort, endsWithLine: endsWithLine && this.isInteractive };
    try {
      return await work(abort.signal);
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Without a terminal, reads ahead in the input. The next line aborts the running work and is executed afterwards. The
   * end of the input also aborts the work.
   */
  endWithInput(): void {
    if (!this.#running || this.isInteractive) return;
    this.#running.endsWithLine = true;
    if (this.#lines.length > 0 || this.#isClosed) this.#running.abort.abort();
    else this.#readline.resume();
  }

  close(): void {
    this.#readline.close();
  }

  #take(line: string): void {
    if (this.#running?.endsWithLine) {
      this.#running.abort.abort();
      if (this.isInteractive) return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else this.#lines.push(line);
    // A terminal is not paused, since Ctrl-C arrives through it.
    if (!this.isInteractive) this.#readline.pause();
  }

  #end(): void {
    this.#isClosed = true;
    this.#waiting?.(undefined);
    if (this.isInteractive || this.#running?.endsWithLine) this.#running?.abort.abort();
  }

  #interrupt(): void {
    if (this.#running) {
      this.#running.abort.abort();
      return;
    }
    if (this.#readline.line === "") this.#output.write("\nUse .exit or Ctrl-D to quit.\n");
    else {
      this.#output.write("\n");
      this.#readline.write(null, { ctrl: true, name: "e" });
      this.#readline.write(null, { ctrl: true, name: "u" });
    }
    this.#readline.prompt();
  }
}
