import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../../bin/fanal.js", import.meta.url));
const POLL_MS = 20;

interface RpcReply {
  id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: what a method answers is what the test is about
  result?: any;
  error?: { code: number; message: string; data?: unknown };
  meta?: Record<string, unknown>;
}

export type RpcCall = [method: string, params?: unknown, extra?: object];

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ProgramProcessOptions {
  /** What complaints call it. */
  name?: string;
  /** On top of this process's own environment. */
  env?: Record<string, string>;
  /** Options of Node. */
  execArgv?: readonly string[];
  /** The program of another checkout. */
  bin?: string;
  /** By default that of this process. */
  cwd?: string;
  /** What a shell does before it becomes the program, such as setting a limit. */
  shell?: string;
}

export interface Patience {
  pollMs?: number;
  seconds?: number;
}

const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** No program outlives the process that started it. */
function killAtExit(child: ChildProcess): void {
  running.add(child);
  child.once("close", () => running.delete(child));
  // First of all, since the directories of the programs are removed at the exit as well.
  if (!process.listeners("exit").includes(killAll)) process.prependListener("exit", killAll);
}

/** The real program as a process of its own, started as a user starts it. */
export class ProgramProcess {
  readonly name: string;
  /** Milliseconds, in the time of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly child: ChildProcess;
  /** Every line it has printed, in the order of arrival. */
  readonly lines: string[] = [];
  /** The lines of standard error alone. */
  readonly errors: string[] = [];
  /** Settles when the process has ended and all that it printed has arrived. */
  readonly exited: Promise<Exit>;
  readonly #waiting = new Set<() => void>();
  #exit: Exit | undefined;
  #nextId = 1;
  #url: string | undefined;

  constructor(args: readonly string[], options: ProgramProcessOptions = {}) {
    const { name = "The program", env = {}, execArgv = [], bin = BIN, cwd, shell } = options;
    this.name = name;
    const command = [process.execPath, ...execArgv, bin, ...args];
    const [file, ...rest] = shell === undefined ? command : ["sh", "-c", `${shell}; exec "$0" "$@"`, ...command];
    this.child = spawn(file!, rest, {
      env: { ...process.env, ...env },
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    killAtExit(this.child);
    this.#listen(this.child.stdout!, []);
    this.#listen(this.child.stderr!, this.errors);
    this.exited = once(this.child, "close").then(([code, signal]) => {
      this.#exit = { code, signal };
      this.#wake();
      return this.#exit;
    });
  }

  get output(): string {
    return this.lines.join("\n");
  }

  /** Lines of warnings and errors, but for the one that a chain at high speed has on a machine that is busy with other tests. */
  get complaints(): string[] {
    return this.lines.filter((line) => / (WARN|ERROR|FATAL) /.test(line) && !/The machine is too slow/.test(line));
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Waits for a line of the output, printed already or, from a place in the output on, yet to come. */
  async untilLine(pattern: RegExp, { from = 0 }: { from?: number } = {}): Promise<RegExpMatchArray> {
    for (let position = from; ; ) {
      for (; position < this.lines.length; position++) {
        const match = this.lines[position]!.match(pattern);
        if (match) return match;
      }
      if (this.#exit) throw new Error(`${this.name} ended without a line like ${pattern}:\n${this.output}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  async untilServed(): Promise<string> {
    this.#url = (await this.untilLine(/JSON-RPC is served at (http:[^\s"]+)/))[1];
    return this.#url!;
  }

  get url(): string {
    if (this.#url === undefined) throw new Error(`${this.name} does not serve JSON-RPC yet.`);
    return this.#url;
  }

  post(body: unknown): Promise<Response> {
    return fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async reply(method: string, params: unknown = [], extra: object = {}): Promise<RpcReply> {
    const response = await this.post(this.#request([method, params, extra]));
    return (await response.json()) as RpcReply;
  }

  /** Several calls in one request; the answers are in the order of the calls. */
  async batch(calls: readonly RpcCall[]): Promise<RpcReply[]> {
    const response = await this.post(calls.map((call) => this.#request(call)));
    return (await response.json()) as RpcReply[];
  }

  /** The result of a call that must succeed. */
  async call<Result = RpcReply["result"]>(method: string, params: unknown = []): Promise<Result> {
    const { result, error } = await this.reply(method, params);
    if (error) throw new Error(`${this.name} did not answer ${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Asks until the answer is as wanted; the chain moves by itself meanwhile. */
  async callUntil<Result>(
    method: string,
    isWanted: (result: Result) => boolean,
    { pollMs = POLL_MS, seconds = Number.POSITIVE_INFINITY }: Patience = {},
  ): Promise<Result> {
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const result = await this.call<Result>(method);
      if (isWanted(result)) return result;
      if (performance.now() > deadline) {
        throw new Error(`${this.name} never gave the wanted answer to ${method}; the last: ${JSON.stringify(result)}`);
      }
      await delay(pollMs);
    }
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    this.child.kill(signal);
    return this.exited;
  }

  async kill(): Promise<void> {
    await this.stop("SIGKILL");
  }

  #request([method, params = [], extra = {}]: RpcCall) {
    return { jsonrpc: "2.0", id: this.#nextId++, method, params, ...extra };
  }

  #listen(stream: NodeJS.ReadableStream, lines: string[]): void {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      this.lines.push(line);
      this.#wake();
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
