import { onTestFinished } from "vitest";
import { freePorts } from "../sockets/free-ports.ts";
import { RedisProcess } from "./redis-process.ts";

/** Starts a Redis for the duration of a test. */
export class RedisServer extends RedisProcess {
  static async start(...args: string[]): Promise<RedisServer> {
    const server = new RedisServer((await freePorts(1))[0]!, args);
    onTestFinished(() => server.end());
    await server.start();
    return server;
  }
}
