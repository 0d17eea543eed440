import { escapeUnprintable } from "../call/printable.ts";
import { type ExitReason, StartupError } from "../exit.ts";
import { SettingError, sentence } from "./setting-error.ts";

/** Any further problems are only counted. */
const MAX_LISTED = 50;

/** Keys and list indices leading from the top of a config file to a setting. */
export type SettingPath = readonly (string | number)[];

interface Problem {
  /** Undefined for a problem that has no path in the config file. */
  readonly path?: SettingPath;
  /** True if the setting comes from the command line or the environment. */
  readonly isOutside?: boolean;
  readonly reason: ExitReason;
  readonly cause?: unknown;
}

interface RejectOptions {
  /** The flag left without a value because of the error. */
  invalid?: string;
  isOutside?: boolean;
}

/** Collects configuration problems, so that a single error lists them all. */
export class ConfigProblems {
  /**
   * Problems by description, without a final period. A description that mentions no names may apply to several
   * settings.
   */
  readonly #problems = new Map<string, Problem>();
  /** Settings left without a value because of a problem. */
  readonly #invalid: SettingPath[] = [];
  #file = "";
  #document: object = {};
  /** Flags set on the command line or in the environment. */
  readonly #outside = new Set<string>();
  /** Settings with names similar to an unknown name. */
  readonly #similar = new Set<string>();

  get isEmpty(): boolean {
    return this.#problems.size === 0;
  }

  setFile(path: string, document: object): void {
    this.#file = path;
    this.#document = document;
  }

  /** Records that a flag is set on the command line or in the environment. */
  addOutside(flag: string): void {
    this.#outside.add(flag);
  }

  /**
   * Records a setting with a name similar to an unknown name. The setting's value is unknown unless it is set as well.
   */
  addMeant(setting: string): void {
    this.#similar.add(setting);
  }

  /**
   * Adds a problem with a setting in the config file. `invalid` is the setting left without a value as a result, if
   * any.
   */
  report(path: SettingPath, problem: string, invalid = path): void {
    this.#add(`${nameOf(path)} ${problem}`, { path, reason: "usage" }, invalid);
  }

  /** Adds an error. Flags that can be set in the config file are referred to by their keys. */
  reject(error: StartupError, { invalid, isOutside = false }: RejectOptions = {}): void {
    const { message, reason } = error;
    if (error instanceof SettingError) {
      const isInFile = (flag: string) => this.#file !== "" && !this.#outside.has(flag);
      const line = error.describe((flag) => (isInFile(flag) ? flag : `--${flag}`));
      const source = isInFile(error.flag) ? { path: [error.flag] } : { isOutside: true };
      this.#add(line, { ...source, reason, cause: error });
    } else {
      this.#add(withoutPeriod(message), { isOutside, reason, cause: error }, invalid === undefined ? [] : [invalid]);
    }
  }

  #add(line: string, problem: Problem, invalid: SettingPath = []): void {
    if (!this.#problems.has(line)) this.#problems.set(line, problem);
    if (invalid.length > 0) this.#invalid.push(invalid);
  }

  /** Returns true if no problem concerns the setting, any part of it, or a setting that contains it. */
  isValid(path: SettingPath): boolean {
    const name = String(path[0]);
    const isMisspelt = this.#similar.has(name) && !this.#outside.has(name) && !Object.hasOwn(this.#document, name);
    return !isMisspelt && !this.#invalid.some((invalid) => areNested(invalid, path));
  }

  /**
   * Runs a check and adds the error if the check throws one. Skips the check and returns undefined if one of its flags
   * already has a problem. `path` is the path in the config file, used for errors that do not specify one.
   */
  check<T>(flags: readonly string[], run: () => T, path?: SettingPath): T | undefined {
    if (!flags.every((flag) => this.isValid([flag]))) return undefined;
    try {
      return run();
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      if (path === undefined) {
        this.reject(error);
      } else {
        const problem = `${error.message[0]!.toLowerCase()}${withoutPeriod(error.message.slice(1))}`;
        this.#add(`${nameOf(path)}: ${problem}`, { path, reason: error.reason, cause: error }, path);
      }
      return undefined;
    }
  }

  /** Throws a single error listing all problems, if any. */
  throwIfAny(): void {
    const [first, ...others] = this.#problems;
    if (first === undefined) return;
    const [line, { path, reason, cause }] = first;
    if (others.length === 0) {
      const prefix = path ? `The config file ${this.#file} is not valid: ` : "";
      throw new StartupError(reason, escapeUnprintable(`${prefix}${sentence(line)}`), cause);
    }
    const isOneReason = others.every(([, other]) => other.reason === reason);
    const lines = this.#inOrderOfFile().map(escapeUnprintable);
    const listed = lines.slice(0, MAX_LISTED);
    const more = lines.length - listed.length;
    if (more > 0) listed.push(`and ${more.toLocaleString("en-US")} more`);
    throw new StartupError(
      isOneReason ? reason : "usage",
      [`${this.#owner()} ${lines.length.toLocaleString("en-US")} problems:`, ...listed].join("\n  "),
    );
  }

  /** Returns the problems in file order, preceded by problems from outside the file. */
  #inOrderOfFile(): string[] {
    return Array.from(this.#problems, ([line, { path = [] }]) => ({ line, position: positionOf(path, this.#document) }))
      .sort((one, other) => comparePositions(one.position, other.position))
      .map(({ line }) => line);
  }

  #owner(): string {
    if (this.#file === "") return "The flags have";
    const file = `config file ${this.#file}`;
    const isOutside = [...this.#problems.values()].some((problem) => problem.isOutside);
    return isOutside ? `The flags and the ${file} have` : `The ${file} has`;
  }
}

/** Formats a path, such as `upstreams[0].tier`. */
function nameOf(path: SettingPath): string {
  const [first = "it", ...others] = path;
  return others.reduce<string>(
    (name, part) => (typeof part === "number" ? `${name}[${part}]` : `${name}.${part}`),
    String(first),
  );
}

/** Returns true if the paths are equal or if one setting contains the other. */
function areNested(one: SettingPath, other: SettingPath): boolean {
  return one.every((part, depth) => depth >= other.length || part === other[depth]);
}

/** Returns the position of each part of a path within its parent value. Missing keys come last. */
function positionOf(path: SettingPath, document: object): number[] {
  if (!Object.hasOwn(document, path[0] ?? "")) return [-1];
  const position: number[] = [];
  let container: unknown = document;
  for (const part of path) {
    const keys = typeof container === "object" && container !== null ? Object.keys(container) : [];
    const index = keys.indexOf(String(part));
    if (index === -1) break;
    position.push(index);
    container = (container as Record<string, unknown>)[part];
  }
  return [...position, Number.POSITIVE_INFINITY];
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((position, depth) => position !== other[depth]);
  return index === -1 ? 0 : one[index]! - other[index]!;
}

const withoutPeriod = (message: string): string => (message.endsWith(".") ? message.slice(0, -1) : message);
