import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/fanal.js", import.meta.url));

export interface RpcReply {
  id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: what a method answers is what the test is about
  result?: any;
  error?: { code: number; message: string; data?: unknown };
  meta?: Record<string, unknown>;
}

/** The real program, started as a user starts it, on any free port. */
export class Program {
  readonly child: ChildProcess;
  /** Every line it has printed. */
  readonly lines: string[] = [];
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #waiting = new Set<() => void>();
  #nextId = 1;
  #url: string | undefined;

  constructor(args: string[], { env = {} }: { env?: Record<string, string> } = {}) {
    this.child = spawn(process.execPath, [BIN, ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      createInterface({ input: stream! }).on("line", (line) => {
        this.lines.push(line);
        for (const wake of this.#waiting) wake();
      });
    }
    this.exited = once(this.child, "close").then(([code, signal]) => {
      for (const wake of this.#waiting) wake();
      return { code, signal };
    });
  }

  /** A dev chain whose JSON-RPC answers. */
  static async dev(args: string[]): Promise<Program> {
    const program = new Program(["dev", "--rpc", "--rpc-port", "0", ...args]);
    await program.untilServed();
    return program;
  }

  get output(): string {
    return this.lines.join("\n");
  }

  /** Waits for a line of the output, printed already or yet to come. */
  async untilLine(pattern: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      for (const line of this.lines) {
        const match = line.match(pattern);
        if (match) return match;
      }
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`The program ended without a line like ${pattern}:\n${this.output}`);
      }
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

  async reply(method: string, params: unknown = [], extra: object = {}): Promise<RpcReply> {
    const response = await fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#nextId++, method, params, ...extra }),
    });
    return (await response.json()) as RpcReply;
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
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.child.kill(signal);
    return this.exited;
  }
}
