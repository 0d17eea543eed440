import { parse } from "node:path";
import { pathToFileURL } from "node:url";
import { Child } from "../support/child.ts";
import type { LoadOrder, LoadReport } from "./load-process.ts";
import type { BenchedRequest } from "./requests.ts";

interface Ports {
  port: number;
  restPort?: number;
}

export interface Target {
  portOf(request: BenchedRequest): number;
  /** CPU time of the server since its start. */
  cpuMicroseconds(): Promise<number>;
}

/** A server under test. */
export class Server implements Target {
  readonly port: number;
  /** Equals `port` if the server has only one. */
  readonly restPort: number;
  readonly child: Child;

  static async start(name: "fanal-process" | "bare-process"): Promise<Server> {
    const { child, report } = await Child.start<Ports>(name, import.meta.url);
    return new Server(child, report);
  }

  /** Starts the server of another checkout. @param path its `fanal-process.ts` */
  static async startFrom(path: string): Promise<Server> {
    const { child, report } = await Child.start<Ports>(parse(path).name, pathToFileURL(path).href);
    return new Server(child, report);
  }

  private constructor(child: Child, { port, restPort = port }: Ports) {
    this.child = child;
    this.port = port;
    this.restPort = restPort;
  }

  portOf({ path }: BenchedRequest): number {
    return path === undefined ? this.port : this.restPort;
  }

  async cpuMicroseconds(): Promise<number> {
    return (await this.child.ask<{ cpuMicroseconds: number }>({ cpu: true })).cpuMicroseconds;
  }
}

export interface Measured {
  requestsPerSecond: number;
  /** CPU time of the server. */
  microsecondsPerRequest: number;
}

const CONNECTIONS = 64;

export async function measure(
  load: Child,
  server: Target,
  request: BenchedRequest,
  seconds: number,
): Promise<Measured> {
  const { path, body, responseBytes } = request;
  const port = server.portOf(request);
  const order: LoadOrder = { port, path, body, responseBytes, connections: CONNECTIONS, seconds };
  const cpuBefore = await server.cpuMicroseconds();
  const { requests, seconds: elapsed } = await load.ask<LoadReport>(order);
  const cpu = (await server.cpuMicroseconds()) - cpuBefore;
  return { requestsPerSecond: requests / elapsed, microsecondsPerRequest: cpu / requests };
}
