import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

export const MOST_LINES = 1000;
/** What is longer was pasted, and is better kept in a file. */
const LONGEST_LINE = 10_000;

/** Where the lines of earlier sessions are (XDG Base Directory Specification). */
export function historyFile(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_STATE_HOME: given } = environment;
  const state = given !== undefined && isAbsolute(given) ? given : join(homedir(), ".local", "state");
  return join(state, "fanal", "console-history");
}

/** The lines that were typed, in a file that its owner alone can read. It is no loss that ends anything when it cannot be written. */
export class History {
  readonly #file: string;
  /** The newest last. */
  readonly lines: readonly string[];
  #isWritable = true;

  constructor(file: string) {
    this.#file = file;
    const stored = readLines(file);
    this.lines = stored.slice(-MOST_LINES);
    this.#write(() => {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (stored.length > MOST_LINES) writeFileSync(file, this.lines.map((line) => `${line}\n`).join(""));
      appendFileSync(file, "", { mode: 0o600 });
      chmodSync(file, 0o600);
    });
  }

  /** Keeps a line, unless it begins with a blank. It is appended, so that sessions at the same time lose nothing. */
  add(line: string): void {
    if (/^\s|^$/.test(line) || line.length > LONGEST_LINE) return;
    this.#write(() => appendFileSync(this.#file, `${line.trimEnd()}\n`));
  }

  #write(write: () => void): void {
    if (!this.#isWritable) return;
    try {
      write();
    } catch {
      this.#isWritable = false;
    }
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
