import { Child } from "../support/child.ts";
import { usageOf } from "../support/process-usage.ts";
import type { ListOrder, ListReport } from "./list-readers-process.ts";
import type { Probed, ProbedCall, ProbeOrder, ProbeReport } from "./probe-process.ts";
import type { ReadOrder, ReadReport } from "./reader-process.ts";

const MEMORY_INTERVAL_MS = 20;

/** Client process that reads long answers. */
export class Reader {
  readonly #child: Child;

  static async start(): Promise<Reader> {
    return new Reader((await Child.start("reader-process", import.meta.url)).child);
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  read(order: ReadOrder): Promise<ReadReport> {
    return this.#child.ask(order);
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}

/** Process with clients that read a long list repeatedly. */
export class ListReaders {
  readonly #child: Child;

  static async start(): Promise<ListReaders> {
    return new ListReaders((await Child.start("list-readers-process", import.meta.url)).child);
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  async begin(port: number, body: string, clients: number): Promise<void> {
    const order: ListOrder = { port, body, clients };
    await this.#child.ask(order);
  }

  /** Stops the clients. Returns the duration of each read in milliseconds. */
  async take(): Promise<number[]> {
    const order: ListOrder = { port: null };
    return (await this.#child.ask<ListReport>(order)).millis;
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}

/** Client process that makes small calls at a fixed interval. */
export class Probe {
  readonly #child: Child;

  static async start(): Promise<Probe> {
    return new Probe((await Child.start("probe-process", import.meta.url)).child);
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  async begin(url: string, calls: readonly ProbedCall[]): Promise<void> {
    const order: ProbeOrder = { url, calls };
    await this.#child.ask(order);
  }

  async take(): Promise<Probed[]> {
    const order: ProbeOrder = { url: null };
    return (await this.#child.ask<ProbeReport>(order)).probed;
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}

/** Runs the work. Returns its result and the peak growth of a process's resident memory. */
export async function withMemory<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; grownBytes: number }> {
  const before = usageOf(pid).residentBytes;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, usageOf(pid).residentBytes);
  }, MEMORY_INTERVAL_MS);
  try {
    return { result: await work(), grownBytes: most - before };
  } finally {
    clearInterval(timer);
  }
}

export function rpcBody(method: string, params: unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}
