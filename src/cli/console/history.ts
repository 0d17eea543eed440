import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

export const MAX_LINES = 1000;
/** Longer lines, which are usually pasted, are not saved. */
const MAX_LINE_LENGTH = 10_000;

/** Returns the path of the history file (XDG Base Directory Specification). */
export function historyFile(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_STATE_HOME: configured } = environment;
  const state = configured !== undefined && isAbsolute(configured) ? configured : join(homedir(), ".local", "state");
  return join(state, "fanal", "console-history");
}

/** Console history in a file readable only by its owner. Write errors are ignored. */
export class History {
  readonly #file: string;
  /** Newest last. */
  readonly lines: readonly string[];
  #isWritable = true;

  constructor(file: string) {
    this.#file = file;
    const stored = readLines(file);
    this.lines = stored.slice(-MAX_LINES);
    this.#write(() => {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (stored.length > MAX_LINES) writeFileSync(file, this.lines.map((line) => `${line}\n`).join(""));
      appendFileSync(file, "", { mode: 0o600 });
      chmodSync(file, 0o600);
    });
  }

  /** Appends a line, unless it starts with a blank. Appending preserves the lines of concurrent sessions. */
  add(line: string): void {
    if (/^\s|^$/.test(line) || line.length > MAX_LINE_LENGTH) return;
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
