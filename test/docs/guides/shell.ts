import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

const END = "--- end of step";

/** Log lines after which a program in the background can be used. */
const READY: readonly (readonly [command: RegExp, line: RegExp])[] = [
  [/^fanal dev\b/, /Dev chain is running/],
  [/^fanal gateway\b/, /Upstream is ready[\s\S]*is served at/],
  [/^fanal node\b/, /(JSON-RPC|REST) is served at|Metrics are served at/],
  [/./, /\n/],
];

/** A shell that keeps its variables and background jobs from step to step. */
export class Shell {
  readonly #directory: string;
  readonly #process: ChildProcess;
  #output = "";
  #errors = "";
  #jobs = 0;

  constructor(directory: string, env: Record<string, string>) {
    this.#directory = directory;
    this.#process = spawn("bash", ["-s"], {
      cwd: directory,
      env: { ...process.env, ...env },
      // Its own process group, so that background jobs end with it.
      detached: true,
      stdio: "pipe",
    });
    this.#process.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
    });
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    onTestFinished(() => this.#end());
  }

  /** Runs a block of commands and returns its output. Commands that end with & run in the background. */
  async run(code: string): Promise<string> {
    const lines = code.trimEnd().replaceAll("\\\n", "").split("\n");
    let output = "";
    for (const line of lines)
      output += await (line.endsWith(" &") ? this.#background(line.slice(0, -2)) : this.#line(line));
    return output;
  }

  async #background(command: string): Promise<string> {
    const log = `job-${++this.#jobs}.log`;
    const output = await this.#line(`${command} > ${log} 2>&1 &`);
    const [, ready] = READY.find(([pattern]) => pattern.test(command))!;
    const path = join(this.#directory, log);
    await expect
      .poll(() => (existsSync(path) ? readFileSync(path, "utf8") : ""), { message: command, timeout: 60_000 })
      .toMatch(ready);
    return output;
  }

  async #line(line: string): Promise<string> {
    this.#output = "";
    this.#errors = "";
    // On a line of its own, since output may end without a newline.
    this.#process.stdin!.write(`${line}\nprintf '\\n${END} %s\\n' $?\n`);
    const end = new RegExp(`\\n${END} (\\d+)\\n`);
    await expect.poll(() => end.test(this.#output), { message: line, timeout: 120_000 }).toBe(true);
    const [, status] = end.exec(this.#output)!;
    expect(status, `${line}\n${this.#output}\n${this.#errors}`).toBe("0");
    return this.#output.replace(end, "").replace(/[^\n]$/, "$&\n");
  }

  async #end(): Promise<void> {
    const closed = once(this.#process, "close");
    try {
      process.kill(-this.#process.pid!, "SIGKILL");
    } catch {
      // It has ended already.
    }
    await closed;
  }
}
