import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ProcessUsage, usageOf } from "./process-usage.ts";

const BIN = fileURLToPath(new URL("../../bin/fanal.js", import.meta.url));
const DEFAULT_POLL_MS = 50;

export interface ChainHead {
  head_slot: string;
  head_block_root: string;
  justified_slot: string;
  justified_block_root: string;
  finalized_slot: string;
  finalized_block_root: string;
}

/** The real program as a process of its own, on loopback and any free ports. */
export class NodeProcess {
  readonly name: string;
  /** Milliseconds, in the time of `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #exited: Promise<unknown>;
  readonly #killAtExit = () => this.#child.kill("SIGKILL");
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;
  #url: string | undefined;

  /** Starts it, and waits until it answers. */
  static async start(name: string, args: readonly string[]): Promise<NodeProcess> {
    const started = new NodeProcess(name, [...args, "--rpc", "--rpc-port", "0"]);
    started.#url = (await started.untilLine(/JSON-RPC is served at (http:\S+)/))[1];
    return started;
  }

  private constructor(name: string, args: readonly string[]) {
    this.name = name;
    // Options such as --cpu-prof go to all of them.
    this.#child = spawn(process.execPath, [...process.execArgv, BIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    // Before the directories of the processes are removed, which happens at the exit as well.
    process.prependListener("exit", this.#killAtExit);
    for (const output of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: output }).on("line", (line) => this.#note(line));
    }
    this.#exited = once(this.#child, "close").then(() => {
      this.#hasEnded = true;
      process.off("exit", this.#killAtExit);
      this.#wake();
    });
  }

  get url(): string {
    if (this.#url === undefined) throw new Error(`${this.name} does not serve JSON-RPC yet.`);
    return this.#url;
  }

  get usage(): ProcessUsage {
    return usageOf(this.#child.pid!);
  }

  /** Waits for a line of the log, written already or yet to come. */
  async untilLine(pattern: RegExp): Promise<RegExpMatchArray> {
    for (let position = 0; ; position++) {
      while (position >= this.#lines.length) {
        if (this.#hasEnded) throw new Error(`${this.name} ended without ${pattern}:\n${this.#lines.join("\n")}`);
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
      }
      const match = this.#lines[position]!.match(pattern);
      if (match) return match;
    }
  }

  async call<Result>(method: string, params: unknown = []): Promise<Result> {
    const [{ result, error }] = (await this.batch([[method, params]])) as [RpcReply];
    if (error) throw new Error(`${this.name} did not answer ${method}: ${JSON.stringify(error)}`);
    return result as Result;
  }

  async batch(calls: readonly [method: string, params: unknown][]): Promise<RpcReply[]> {
    const response = await fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }))),
    });
    return (await response.json()) as RpcReply[];
  }

  /** Asks until the answer is as wanted. */
  async callUntil<Result>(
    method: string,
    isWanted: (result: Result) => boolean,
    { pollMs = DEFAULT_POLL_MS, patienceSeconds = 600 } = {},
  ): Promise<Result> {
    const deadline = performance.now() + patienceSeconds * 1000;
    for (;;) {
      const result = await this.call<Result>(method);
      if (isWanted(result)) return result;
      if (performance.now() > deadline) {
        throw new Error(`${this.name} never gave the wanted answer to ${method}; the last: ${JSON.stringify(result)}`);
      }
      await sleep(pollMs);
    }
  }

  head(): Promise<ChainHead> {
    return this.call("getChainHead");
  }

  async headSlot(): Promise<number> {
    return Number((await this.head()).head_slot);
  }

  /** Ends it, and tells on standard error what it warned of: figures of an ailing node mean nothing. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    await this.#exited;
    for (const line of this.#lines) if (/ (WARN|ERROR|FATAL) /.test(line)) console.error(`${this.name}: ${line}`);
  }

  #note(line: string): void {
    this.#lines.push(line);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

export interface RpcReply {
  result?: unknown;
  error?: unknown;
}
