import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { createClient, RESP_TYPES } from "@redis/client";
import { type RemovableDirectory, removableDirectory } from "../directories/removable-directory.ts";
import { freePorts } from "../sockets/free-ports.ts";

/** Returns why Redis is unavailable. Undefined if it is available. */
export function missingRedis(): string | undefined {
  return redisProgram() === undefined ? "redis-server is not installed (Debian package redis-server)" : undefined;
}

function redisProgram(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return [...folders, "/usr/bin"].map((folder) => join(folder, "redis-server")).find((file) => existsSync(file));
}

/** Redis on a free port without persistence. The caller stops it. */
export class RedisProcess {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #directory: RemovableDirectory;
  #process: ChildProcess | undefined;
  #client: ReturnType<typeof createRedisClient> | undefined;

  static async open(...args: string[]): Promise<RedisProcess> {
    const server = new RedisProcess((await freePorts(1))[0]!, args);
    await server.start();
    return server;
  }

  protected constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
    this.#directory = removableDirectory();
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts an empty Redis, also after a kill. */
  async start(): Promise<void> {
    const own = ["--bind", "127.0.0.1", "--port", String(this.port), "--save", "", "--appendonly", "no"];
    const child = spawn(redisProgram()!, [...own, "--dir", this.#directory.path, ...this.#args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout! })) {
      if (line.includes("Ready to accept connections")) break;
    }
    child.stdout!.resume();
    if (child.exitCode !== null) throw new Error(`Redis ended with code ${child.exitCode}.`);
  }

  async kill(): Promise<void> {
    this.#client?.destroy();
    this.#client = undefined;
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Freezes Redis until `thaw`: it accepts connections but does not respond. */
  freeze(): void {
    this.#process!.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process!.kill("SIGCONT");
  }

  /** Runs a command. Strings are returned as bytes. */
  async command(...args: (string | Buffer)[]): Promise<unknown> {
    this.#client ??= await createRedisClient(this.url).connect();
    return this.#client.sendCommand(args);
  }

  async keys(): Promise<string[]> {
    return ((await this.command("KEYS", "*")) as Buffer[]).map(String).sort();
  }

  /** Stops Redis permanently. */
  async end(): Promise<void> {
    await this.kill();
    this.#directory.remove();
  }
}

function createRedisClient(url: string) {
  return createClient({ url, RESP: 2, commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } });
}
