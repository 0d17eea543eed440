import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 50;

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

export interface Patience {
  pollMs?: number;
  seconds?: number;
}

/** A running program: output, exit and JSON-RPC. */
export abstract class ProgramRun {
  /** Name in error messages. */
  readonly name: string;
  /** All output lines in order. */
  readonly lines: string[] = [];
  /** Lines of standard error. */
  readonly errors: string[] = [];
  /** Settles after the exit of the program, when all output is received. */
  abstract readonly exited: Promise<Exit>;
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;
  #nextId = 1;
  #url: string | undefined;

  constructor(name = "The program") {
    this.name = name;
  }

  get output(): string {
    return this.lines.join("\n");
  }

  /** Warnings and errors, except for the one of a fast chain on a busy machine. */
  get complaints(): string[] {
    return this.lines.filter((line) => / (WARN|ERROR|FATAL) /.test(line) && !/The machine is too slow/.test(line));
  }

  /** Waits for an output line, including earlier ones from a given position on. */
  async untilLine(pattern: RegExp, { from = 0 }: { from?: number } = {}): Promise<RegExpMatchArray> {
    for (let position = from; ; ) {
      for (; position < this.lines.length; position++) {
        const match = this.lines[position]!.match(pattern);
        if (match) return match;
      }
      if (this.#hasEnded) throw new Error(`${this.name} ended without a line like ${pattern}:\n${this.output}`);
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

  /** Makes a batch of calls. Responses are in the order of the calls. */
  async batch(calls: readonly RpcCall[]): Promise<RpcReply[]> {
    const response = await this.post(calls.map((call) => this.#request(call)));
    return (await response.json()) as RpcReply[];
  }

  /** Returns the result of a call that must succeed. */
  async call<Result = RpcReply["result"]>(method: string, params: unknown = []): Promise<Result> {
    const { result, error } = await this.reply(method, params);
    if (error) throw new Error(`${this.name} did not answer ${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Polls until the response matches, while the chain runs. */
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

  /** Sends a signal and waits for the exit. */
  abstract stop(signal?: NodeJS.Signals): Promise<Exit>;

  protected print(line: string): void {
    this.lines.push(line);
    this.#wake();
  }

  protected printError(line: string): void {
    this.errors.push(line);
    this.print(line);
  }

  /** Marks the end of the output. */
  protected end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  #request([method, params = [], extra = {}]: RpcCall) {
    return { jsonrpc: "2.0", id: this.#nextId++, method, params, ...extra };
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
