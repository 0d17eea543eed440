import { escapeUnprintable } from "../call/printable.ts";
import { StartupError } from "../exit.ts";

/** Further problems are only counted. */
const MAX_LISTED = 50;

interface Problem {
  /** Without a final period. */
  readonly line: string;
  readonly isInFile: boolean;
  readonly error: StartupError;
}

/** Begin of messages about the command line and the environment. */
const OUTSIDE_FILE = /^(?:--|The value |Unknown environment variable )/;

/** Collects the problems of a configuration, so that one error lists them all. */
export class ConfigProblems {
  readonly #problems: Problem[] = [];
  /** Settings with a problem, such as `quorum` or `upstreams[0].tier`. */
  readonly #invalid = new Set<string>();
  /** Settings with a problem, and what contains them. */
  readonly #affected = new Set<string>();
  #file = "";
  #keys: readonly string[] = [];
  /** Flags that the command line or the environment sets. */
  readonly #outside = new Set<string>();
  /** Settings that unknown names probably mean. */
  readonly #meant = new Set<string>();

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  /** Sets the config file and its keys, in order. */
  setFile(path: string, keys: readonly string[]): void {
    this.#file = path;
    this.#keys = keys;
  }

  /** Notes that a flag is set on the command line or in the environment. */
  addOutside(flag: string): void {
    this.#outside.add(flag);
  }

  /** Notes a setting that an unknown name probably means. Its value is unknown unless it is set as well. */
  addMeant(setting: string): void {
    this.#meant.add(setting);
  }

  /** Adds a problem of a place in the config file. `invalid` is the setting without a value because of it. */
  report(place: string, problem: string, invalid = place): void {
    const line = `${place} ${problem}`;
    this.#problems.push({ line, isInFile: true, error: new StartupError("usage", line) });
    this.#addInvalid(invalid);
  }

  /** Adds an error about a place in the config file. */
  #rejectAt(place: string, { message, reason }: StartupError): void {
    const line = `${place}: ${message[0]!.toLowerCase()}${message.slice(1).replace(/\.$/, "")}`;
    this.#problems.push({ line, isInFile: true, error: new StartupError(reason, line) });
    this.#addInvalid(place);
  }

  /** Adds an error about flags. With a config file, those that are not set outside it are named as its keys. */
  reject(error: StartupError, invalid?: string): void {
    const message = error.message.replace(/\.$/, "");
    const keyOf = (flag: string, name: string) => (this.#file === "" || this.#outside.has(name) ? flag : name);
    const line = message.replaceAll(/--([a-z][a-z0-9-]*)/g, keyOf);
    this.#problems.push({ line, isInFile: message.startsWith("--") && !line.startsWith("--"), error });
    if (invalid !== undefined) this.#addInvalid(invalid);
  }

  #addInvalid(setting: string): void {
    this.#invalid.add(setting);
    for (const place of withContainers(setting)) this.#affected.add(place);
  }

  /** Returns whether a setting, its parts and what contains it have no problem. */
  isValid(setting: string): boolean {
    const isSet = this.#outside.has(setting) || this.#keys.includes(setting);
    if (this.#meant.has(setting) && !isSet) return false;
    return !this.#affected.has(setting) && !withContainers(setting).some((place) => this.#invalid.has(place));
  }

  /**
   * Runs a check and adds the error that it throws. Skips it and returns undefined if one of its settings is invalid,
   * because it would report a consequence of that. `place` is one in the config file that the error does not name.
   */
  check<T>(settings: readonly string[], run: () => T, place?: string): T | undefined {
    if (!settings.every((setting) => this.isValid(setting))) return undefined;
    try {
      return run();
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      if (place === undefined) this.reject(error);
      else this.#rejectAt(place, error);
      return undefined;
    }
  }

  /** Throws one error with all problems, if there are any. */
  throwIfAny(): void {
    const [first, ...others] = this.#problems;
    if (first === undefined) return;
    const { reason } = first.error;
    if (others.length === 0) {
      const end = first.line.endsWith("?") ? "" : ".";
      const message = first.isInFile
        ? `The config file ${this.#file} is not valid: ${first.line}${end}`
        : first.error.message;
      throw new StartupError(reason, escapeUnprintable(message), first.error);
    }
    const isOneReason = others.every(({ error }) => error.reason === reason);
    const lines = this.#inOrderOfFile().map(({ line }) => escapeUnprintable(line));
    const listed = lines.slice(0, MAX_LISTED);
    const more = lines.length - listed.length;
    if (more > 0) listed.push(`and ${more.toLocaleString("en-US")} more`);
    throw new StartupError(
      isOneReason ? reason : "usage",
      [`${this.#owner()} ${lines.length.toLocaleString("en-US")} problems:`, ...listed].join("\n  "),
    );
  }

  /** Sorts by key and list item. Problems outside the file come first. */
  #inOrderOfFile(): Problem[] {
    const positions = new Map(this.#keys.map((key, position) => [key, position]));
    return this.#problems
      .map((problem) => {
        const [, key = "", item = "0"] = /^([^\s.:[\]]+)(?:\[(\d+)\])?/.exec(problem.line) ?? [];
        return { problem, position: positions.get(key) ?? -1, item: Number(item) };
      })
      .sort((one, other) => one.position - other.position || one.item - other.item)
      .map(({ problem }) => problem);
  }

  #owner(): string {
    if (this.#file === "") return "The flags have";
    const file = `config file ${this.#file}`;
    return this.#problems.some(({ line }) => OUTSIDE_FILE.test(line))
      ? `The flags and the ${file} have`
      : `The ${file} has`;
  }
}

/** Returns a setting and what contains it: `upstreams`, `upstreams[0]` and `upstreams[0].tier`. */
function withContainers(setting: string): string[] {
  return Array.from(setting.matchAll(/[.[]|$/g), ({ index }) => setting.slice(0, index));
}
