/** Both ends of the channel between a benchmark and the processes that it starts. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of the benchmark that answers one question at a time. */
export class Child {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  /** Starts the file of this name beside a module, and waits for its first report. */
  static async start<Report>(
    name: string,
    beside: string,
    preset: "minimal" | "mainnet" = "minimal",
  ): Promise<{ child: Child; report: Report }> {
    const started = fork(fileURLToPath(new URL(`${name}.ts`, beside)), {
      // Options such as --cpu-prof go to all of them.
      execArgv: process.execArgv,
      env: { ...process.env, LODESTAR_PRESET: preset },
    });
    const child = new Child(started);
    return { child, report: await child.#report<Report>() };
  }

  ask<Report>(question: object): Promise<Report> {
    const answer = this.#report<Report>();
    this.#process.send(question);
    return answer;
  }

  async end(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.disconnect();
    await ended;
  }

  async #report<Report>(): Promise<Report> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>();
    const onExit = (code: number | null) => reject(new Error(`A process of the benchmark ended with code ${code}.`));
    this.#process.once("exit", onExit);
    this.#process.once("message", (message) => resolve(message as Report));
    try {
      return await promise;
    } finally {
      this.#process.off("exit", onExit);
    }
  }
}

/** Of a started process: sends something to the benchmark. */
export function report(message: object): void {
  process.send?.(message);
}

/** Of a started process, which ends with the benchmark. */
export function parentGone(): Promise<void> {
  return new Promise((resolve) => {
    process.once("disconnect", resolve);
  });
}

/** Of a started process: tells on request how much processor time it has used up. */
export function answerCpuQuestions(): void {
  process.on("message", (message: { cpu?: true }) => {
    if (!message.cpu) return;
    const { user, system } = process.cpuUsage();
    report({ cpuMicroseconds: user + system });
  });
}
