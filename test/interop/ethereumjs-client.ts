import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { GethGenesis } from "@ethereumjs/common";
import { EngineHttpClient } from "../support/execution-layer/http-client.ts";
import type { Hex } from "../support/execution-layer/wire.ts";
import { ProgramProcess } from "../support/program/program-process.ts";
import type { Exit } from "../support/program/program-run.ts";
import { freePorts } from "../support/sockets/free-ports.ts";

const POLL_MS = 50;
const LOOPBACK_ONLY = fileURLToPath(new URL("loopback-only.ts", import.meta.url));

export interface EthereumjsClientOptions {
  /** Directory of its data, secret and genesis file. */
  directory: string;
  /** Forks up to Prague, the last that it supports. */
  genesis: GethGenesis;
  /** Receives the function that ends the process. */
  whenDone: (end: () => Promise<void>) => void;
}

function clientFromEnvironment(): string {
  const path = process.env.INTEROP_ETHEREUMJS_CLIENT;
  if (path === undefined)
    throw new Error('INTEROP_ETHEREUMJS_CLIENT is not set; run this with "npm run test:interop".');
  return path;
}

/**
 * @ethereumjs/client as a process, without peers, on fixed ports. It accepts transactions only after a head of the last
 * minute, and validates them by the current fork.
 */
export class EthereumjsClient {
  readonly directory: string;
  /** 32 bytes, also in the file `jwt.hex` of the directory. */
  readonly secret = new Uint8Array(32).fill(7);
  /** The authenticated endpoint: engine_*, and some of eth_*. */
  readonly engine: EngineHttpClient;
  /** The public endpoint: eth_*, with receipts and logs. */
  readonly eth: EngineHttpClient;
  readonly #ports: { engine: number; eth: number; peers: number };
  #process: ProgramProcess | undefined;

  static async start({ directory, genesis, whenDone }: EthereumjsClientOptions): Promise<EthereumjsClient> {
    mkdirSync(directory, { recursive: true });
    const [engine, eth, peers] = (await freePorts(3)) as [number, number, number];
    const client = new EthereumjsClient(directory, { engine, eth, peers });
    writeFileSync(client.secretFile, `0x${Buffer.from(client.secret).toString("hex")}\n`, { mode: 0o600 });
    writeFileSync(client.#genesisFile, JSON.stringify(genesis));
    whenDone(async () => {
      await client.stop("SIGKILL");
    });
    await client.start();
    return client;
  }

  private constructor(directory: string, ports: { engine: number; eth: number; peers: number }) {
    this.directory = directory;
    this.#ports = ports;
    this.engine = new EngineHttpClient(`http://127.0.0.1:${ports.engine}`, this.secret);
    this.eth = new EngineHttpClient(`http://127.0.0.1:${ports.eth}`);
  }

  get secretFile(): string {
    return join(this.directory, "jwt.hex");
  }

  /** All output lines since the last start. */
  get lines(): readonly string[] {
    return this.#process?.lines ?? [];
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async genesisHash(): Promise<Hex> {
    return (await this.eth.call<{ hash: Hex }>("eth_getBlockByNumber", "0x0", false)).hash;
  }

  /** Resolves when it responds. It continues with existing data, if any. */
  async start(): Promise<void> {
    const args = [
      [`--dataDir=${this.#dataDirectory}`, `--gethGenesis=${this.#genesisFile}`],
      ["--rpcEngine", "--rpcEngineAddr=127.0.0.1", `--rpcEnginePort=${this.#ports.engine}`],
      [`--jwtSecret=${this.secretFile}`],
      ["--rpc", "--rpcAddr=127.0.0.1", `--rpcPort=${this.#ports.eth}`],
      // Without these, a stop and an update to an unknown head take seconds.
      ["--sync=none", "--isSingleNode"],
      [`--port=${this.#ports.peers}`, "--discDns=false", "--discV4=false", "--logRotate=false", "--logLevelFile=error"],
    ].flat();
    const program = new ProgramProcess(args, {
      name: "@ethereumjs/client",
      bin: clientFromEnvironment(),
      execArgv: ["--import", LOOPBACK_ONLY],
      env: { NODE_OPTIONS: "" },
      cwd: this.directory,
    });
    this.#process = program;
    const ended = program.exited.then(() => {
      throw new Error(`${program.name} ended at its start:\n${program.output}`);
    });
    // An exit after the start is not a failure here.
    ended.catch(() => {});
    await Promise.race([this.#untilAnswered(program), ended]);
  }

  /** With SIGKILL it cannot close its database. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<Exit | undefined> {
    return this.#process?.stop(signal);
  }

  /** Must be called while it is stopped. At the next start it has only the genesis. */
  removeData(): void {
    rmSync(this.#dataDirectory, { recursive: true, force: true, maxRetries: 5 });
  }

  get #dataDirectory(): string {
    return join(this.directory, "data");
  }

  /** The client names the chain after it. */
  get #genesisFile(): string {
    return join(this.directory, "interop.json");
  }

  async #untilAnswered(program: ProgramProcess): Promise<void> {
    while (program.child.exitCode === null && program.child.signalCode === null) {
      try {
        await this.engine.call("eth_chainId");
        return;
      } catch {
        await delay(POLL_MS);
      }
    }
  }
}
