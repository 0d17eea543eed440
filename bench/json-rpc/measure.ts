import { parse } from "node:path";
import { pathToFileURL } from "node:url";
import { Child } from "../support/child.ts";
import type { LoadOrder, LoadReport } from "./load-process.ts";

/** A server under test. */
export class Server {
  readonly port: number;
  readonly child: Child;

  static async start(name: "fanal-process" | "bare-process"): Promise<Server> {
    const { child, report } = await Child.start<{ port: number }>(name, import.meta.url);
    return new Server(child, report.port);
  }

  /** That of another checkout, by the path of the process that serves it. */
  static async startFrom(path: string): Promise<Server> {
    const { child, report } = await Child.start<{ port: number }>(parse(path).name, pathToFileURL(path).href);
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
