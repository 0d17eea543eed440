import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const BIN = fileURLToPath(new URL("../../bin/fanal.js", import.meta.url));
const POLL_MS = 20;

export interface RpcReply {
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

export interface ProgramOptions {
  /** On top of the test's own environment. */
  env?: Record<string, string>;
  /** When the program is killed if it still runs: by default when the test is over. */
  whenDone?: (end: () => Promise<void>) => void;
}

/** The real program, started as a user starts it. */
export class Program {
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

  constructor(args: string[], { env = {}, whenDone = onTestFinished }: ProgramOptions = {}) {
    this.child = spawn(process.execPath, [BIN, ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#listen(this.child.stdout!, []);
    this.#listen(this.child.stderr!, this.errors);
    this.exited = once(this.child, "close").then(([code, signal]) => {
      this.#exit = { code, signal };
      this.#wake();
      return this.#exit;
    });
    whenDone(() => this.kill());
  }

  /** A dev chain whose JSON-RPC answers, on any free port. */
  static async dev(args: string[], options?: ProgramOptions): Promise<Program> {
    return Program.served(["dev", ...args], options);
  }

  /** Any command of the program, with its JSON-RPC answering on any free port. */
  static async served(args: string[], options?: ProgramOptions): Promise<Program> {
    const program = new Program([...args, "--rpc", "--rpc-port", "0"], options);
    await program.untilServed();
    return program;
  }

  get output(): string {
    return this.lines.join("\n");
  }

  /** Waits for a line of the output, printed already or, from a place in the output on, yet to come. */
  async untilLine(pattern: RegExp, { from = 0 }: { from?: number } = {}): Promise<RegExpMatchArray> {
    for (let position = from; ; ) {
      for (; position < this.lines.length; position++) {
        const match = this.lines[position]!.match(pattern);
        if (match) return match;
      }
      if (this.#exit) throw new Error(`The program ended without a line like ${pattern}:\n${this.output}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  async untilServed(): Promise<string> {
    this.#url = (await this.untilLine(/JSON-RPC is served at (http:\S+)/))[1];
    return this.#url!;
  }

  get url(): string {
    if (this.#url === undefined) throw new Error("The program does not serve JSON-RPC yet.");
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
  async batch(calls: RpcCall[]): Promise<RpcReply[]> {
    const response = await this.post(calls.map((call) => this.#request(call)));
    return (await response.json()) as RpcReply[];
  }

  /** The result of a call that must succeed. */
  async call(method: string, params: unknown = []) {
    const { result, error } = await this.reply(method, params);
    if (error) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result;
  }

  /** Asks until the answer is as wanted; the chain moves by itself meanwhile. */
  async callUntil<T>(method: string, wanted: (result: T) => boolean, params: unknown = []): Promise<T> {
    for (;;) {
      const result = (await this.call(method, params)) as T;
      if (wanted(result)) return result;
      await delay(POLL_MS);
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
