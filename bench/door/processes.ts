import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LoadOrder, LoadReport } from "./load-process.ts";

/** A process of the benchmark that answers one question at a time. */
export class Child {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  /** Starts the file of this name beside a module, and waits for its first report. */
  static async start<Report>(name: string, beside = import.meta.url): Promise<{ child: Child; report: Report }> {
    const started = fork(fileURLToPath(new URL(`${name}.ts`, beside)), {
      // Options such as --cpu-prof go to all of them.
      execArgv: process.execArgv,
      env: { ...process.env, LODESTAR_PRESET: "minimal" },
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

/** A server under test. */
export class Server {
  readonly port: number;
  readonly child: Child;

  static async start(name: "door-process" | "bare-process"): Promise<Server> {
    const { child, report } = await Child.start<{ port: number }>(name);
    return new Server(child, report.port);
  }

  private constructor(child: Child, port: number) {
    this.child = child;
    this.port = port;
  }

  async cpuMicroseconds(): Promise<number> {
    return (await this.child.ask<{ cpuMicroseconds: number }>({ cpu: true })).cpuMicroseconds;
  }
}

export interface Measured {
  requestsPerSecond: number;
  /** Processor time of the server. */
  microsecondsPerRequest: number;
}

const CONNECTIONS = 64;

export async function measure(load: Child, server: Server, body: string, seconds: number): Promise<Measured> {
  const order: LoadOrder = { port: server.port, body, connections: CONNECTIONS, seconds };
  const cpuBefore = await server.cpuMicroseconds();
  const { requests, seconds: elapsed } = await load.ask<LoadReport>(order);
  const cpu = (await server.cpuMicroseconds()) - cpuBefore;
  return { requestsPerSecond: requests / elapsed, microsecondsPerRequest: cpu / requests };
}
