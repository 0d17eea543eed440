import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { anvilProgram } from "../../test/execution/anvil.ts";
import type { Target } from "../json-rpc/measure.ts";
import { Child } from "../support/child.ts";
import { NodeProcess } from "../support/node-process.ts";
import { usageOf } from "../support/process-usage.ts";

/** Process that serves `eth_*` on a port. */
export interface EthServer extends Target {
  readonly name: string;
  call<T>(method: string, ...params: unknown[]): Promise<T>;
  /** Mines empty blocks. */
  mine(blocks: number): Promise<void>;
  stop(): Promise<unknown>;
}

interface Endpoint {
  name: string;
  port: number;
  cpuMicroseconds(): Promise<number>;
  stop(): Promise<unknown>;
}

function serverAt({ name, port, cpuMicroseconds, stop }: Endpoint): EthServer {
  const call = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
    if (error !== undefined) throw new Error(`${name}: ${method}: ${error.message}`);
    return result;
  };
  return {
    name,
    call,
    mine: (blocks) => call("anvil_mine", `0x${blocks.toString(16)}`),
    portOf: () => port,
    cpuMicroseconds,
    stop,
  };
}

const portOf = (url: string) => Number(new URL(url).port);
const cpuOf = (pid: number) => async () => usageOf(pid).cpuSeconds * 1e6;

/** Starts the program. Returns its Ethereum port and its beacon port. */
export async function startFanal(
  directory: string,
  { validators = 16 } = {},
): Promise<{ eth: EthServer; beacon: EthServer }> {
  const node = await NodeProcess.start("Fanal", [
    ...["dev", "--data-dir", directory, "--validators", String(validators), "--warmup-epochs", "0", "--no-auto"],
    ...["--evm", "--eth-rpc", "--eth-rpc-port", "0"],
  ]);
  const [, url] = await node.untilLine(/Ethereum RPC is served at (http:\S+)/);
  const cpuMicroseconds = cpuOf(node.pid);
  const stop = () => node.stop();
  return {
    eth: serverAt({ name: "Fanal, Ethereum port", port: portOf(url!), cpuMicroseconds, stop }),
    beacon: serverAt({ name: "Fanal, beacon port", port: portOf(node.url), cpuMicroseconds, stop: async () => {} }),
  };
}

/** Starts Anvil. Returns undefined if it has no binary for this platform. */
export async function startAnvil(): Promise<EthServer | undefined> {
  const program = anvilProgram();
  if (program === undefined) return undefined;
  const child = spawn(program, ["--host", "127.0.0.1", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const port = await announcedPort(child);
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  return serverAt({ name: "Anvil", port, cpuMicroseconds: cpuOf(child.pid!), stop });
}

function announcedPort(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // Keeps reading: a full pipe would block Anvil.
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const port = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) resolve(Number(port));
  });
  child.once("exit", (code) => reject(new Error(`Anvil exited with code ${code} before it listened.`)));
  return promise;
}

/** Starts a process that serves EDR over `node:http`, as Hardhat does. Returns undefined if EDR has no binary. */
export async function startEdr(): Promise<EthServer | undefined> {
  const { child, report } = await Child.start<{ port?: number }>("edr-process", import.meta.url);
  if (report.port === undefined) {
    await child.end();
    return undefined;
  }
  const server = serverAt({
    name: "EDR",
    port: report.port,
    cpuMicroseconds: async () => (await child.ask<{ cpuMicroseconds: number }>({ cpu: true })).cpuMicroseconds,
    stop: () => child.end(),
  });
  return {
    ...server,
    // hardhat_mine only reserves block numbers, which would make the log search trivial.
    mine: async (blocks) => {
      for (let mined = 0; mined < blocks; mined++) await server.call("evm_mine");
    },
  };
}
