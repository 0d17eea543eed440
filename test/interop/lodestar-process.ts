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
  /** Is told how the process is ended. */
  whenDone: (end: () => Promise<void>) => void;
}

/** One of Lodestar's commands as a process of its own, on the minimal preset. */
export class LodestarProcess {
  /** Every line it has printed, in the order of arrival. */
  readonly lines: string[] = [];
  /** Rejects when the process ends, which it never does by itself unless something is wrong. */
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
    // The end that is brought about from outside is nobody's failure.
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
