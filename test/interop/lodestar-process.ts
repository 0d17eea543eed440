import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type LodestarInstall, ownLodestar } from "./lodestar-install.ts";

export interface LodestarProcessOptions {
  /** By default the one that the scripts install. */
  install?: LodestarInstall | undefined;
  args: readonly string[];
  /** The working directory, in which some commands leave files. */
  directory: string;
  /** Receives the function that ends the process. */
  whenDone: (end: () => Promise<void>) => void;
}

/** A Lodestar command as a process, on the minimal preset. */
export class LodestarProcess {
  /** All output lines in order. */
  readonly lines: string[] = [];
  /** Rejects when the process exits, which always indicates an error. */
  readonly ended: Promise<never>;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;
  #hasEnded = false;

  constructor({ install = ownLodestar(), args, directory, whenDone }: LodestarProcessOptions) {
    this.#child = spawn(install.node, [install.program, ...args], {
      cwd: directory,
      env: { ...process.env, LODESTAR_PRESET: "minimal", NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: stream }).on("line", (line) => this.lines.push(line));
    }
    this.#closed = once(this.#child, "close");
    this.#child.once("close", () => {
      this.#hasEnded = true;
    });
    this.ended = this.#closed.then(([code, signal]) => {
      throw new Error(`Lodestar ended (${signal ?? `exit code ${code}`}):\n${this.lines.join("\n")}`);
    });
    // A requested exit is not a failure.
    this.ended.catch(() => {});
    whenDone(() => this.#kill());
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async #kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}
