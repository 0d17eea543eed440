/** IPC between a benchmark and its child processes. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Child process that handles one request at a time. */
export class Child {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  /** Starts a file next to the module, and waits for its first report. */
  static async start<Report>(
    name: string,
    beside: string,
    preset: "minimal" | "mainnet" = "minimal",
  ): Promise<{ child: Child; report: Report }> {
    const started = fork(fileURLToPath(new URL(`${name}.ts`, beside)), {
      // Passes on options such as --cpu-prof.
      execArgv: process.execArgv,
      env: { ...process.env, LODESTAR_PRESET: preset },
    });
    const child = new Child(started);
    return { child, report: await child.#report<Report>() };
  }

  ask<Report>(request: object): Promise<Report> {
    const response = this.#report<Report>();
    this.#process.send(request);
    return response;
  }

  async end(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.disconnect();
    await ended;
  }

  async #report<Report>(): Promise<Report> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>();
    const onExit = (code: number | null) =>
      reject(new Error(`A child process of the benchmark exited with code ${code}.`));
    this.#process.once("exit", onExit);
    this.#process.once("message", (message) => resolve(message as Report));
    try {
      return await promise;
    } finally {
      this.#process.off("exit", onExit);
    }
  }
}

/** In a child process: sends a message to the benchmark. */
export function report(message: object): void {
  process.send?.(message);
}

/** In a child process: resolves when the benchmark disconnects or exits. */
export function parentGone(): Promise<void> {
  return new Promise((resolve) => {
    process.once("disconnect", resolve);
  });
}

/** In a child process: reports the used CPU time on request. */
export function reportCpuOnRequest(): void {
  process.on("message", (message: { cpu?: true }) => {
    if (!message.cpu) return;
    const { user, system } = process.cpuUsage();
    report({ cpuMicroseconds: user + system });
  });
}
