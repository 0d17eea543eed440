import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Exit, ProgramRun } from "./program-run.ts";

export const BIN = fileURLToPath(new URL("../../../bin/fanal.js", import.meta.url));

export interface ProgramProcessOptions {
  /** Name in error messages. */
  name?: string;
  /** Added to the environment of this process. */
  env?: Record<string, string>;
  /** Node options. */
  execArgv?: readonly string[];
  /** Path of another checkout's program. */
  bin?: string;
  /** Default: that of this process. */
  cwd?: string;
  /** Shell command before `exec` of the program, such as `ulimit`. */
  shell?: string;
}

const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Kills all programs when this process exits. */
function killAtExit(child: ChildProcess): void {
  running.add(child);
  child.once("close", () => running.delete(child));
  // Prepended: the kill must precede the removal of the directories.
  if (!process.listeners("exit").includes(killAll)) process.prependListener("exit", killAll);
}

/** The real program as a separate process. */
export class ProgramProcess extends ProgramRun {
  /** Start time in terms of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;

  constructor(args: readonly string[], options: ProgramProcessOptions = {}) {
    const { name, env = {}, execArgv = [], bin = BIN, cwd, shell } = options;
    super(name);
    const command = [process.execPath, ...execArgv, bin, ...args];
    const [file, ...rest] = shell === undefined ? command : ["sh", "-c", `${shell}; exec "$0" "$@"`, ...command];
    this.child = spawn(file!, rest, {
      // Most tests need no EVM, and its default port is the same for all. Other checkouts may not have the settings.
      env: { ...process.env, ...(bin === BIN && { FANAL_EVM: "false", FANAL_ETH_RPC: "false" }), ...env },
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    killAtExit(this.child);
    createInterface({ input: this.child.stdout! }).on("line", (line) => this.print(line));
    createInterface({ input: this.child.stderr! }).on("line", (line) => this.printError(line));
    this.exited = once(this.child, "close").then(([code, signal]) => {
      this.end();
      return { code, signal };
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    this.child.kill(signal);
    return this.exited;
  }

  async kill(): Promise<void> {
    await this.stop("SIGKILL");
  }
}
