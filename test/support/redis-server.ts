import { onTestFinished } from "vitest";
import { freePort, RedisProcess } from "./redis-process.ts";

/** A Redis of one test, which is gone when the test is over. */
export class RedisServer extends RedisProcess {
  static async start(...args: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), args);
    onTestFinished(() => server.end());
    await server.start();
    return server;
  }
}
