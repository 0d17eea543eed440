import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type phase0, ssz } from "@lodestar/types";
import { Interface } from "ethers";
import { JsonRpcClient } from "../../src/execution/json-rpc-client.ts";
import contracts from "../fixtures/execution-contracts.json" with { type: "json" };
import { freePorts } from "../support/sockets/free-ports.ts";

export const DEPOSIT_CONTRACT = `0x${"42".repeat(20)}`;
export const ANVIL_CHAIN_ID = 31337;

const CONTRACT = new Interface([
  "function deposit(bytes pubkey, bytes withdrawal_credentials, bytes signature, bytes32 deposit_data_root) payable",
]);
const PACKAGES: Record<string, string> = { "linux x64": "linux-amd64", "linux arm64": "linux-arm64" };
const WEI_PER_GWEI = 10n ** 9n;

/** Returns why anvil is unavailable; undefined if it is available. */
export function missingAnvil(): string | undefined {
  return anvilProgram() === undefined ? `anvil has no binary for ${process.platform}-${process.arch}` : undefined;
}

/** The binary in the platform package of npm; undefined if the platform has none. */
export function anvilProgram(): string | undefined {
  const platform = PACKAGES[`${process.platform} ${process.arch}`];
  if (platform === undefined) return undefined;
  const outer = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  try {
    const inner = createRequire(outer).resolve(`@foundry-rs/anvil-${platform}/package.json`);
    const program = join(dirname(inner), "bin", "anvil");
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** A deposit chain that mines on demand, with an empty deposit contract at genesis. */
export class Anvil {
  readonly url: string;
  readonly #client: JsonRpcClient;
  readonly #process: ChildProcess;

  /** The state file is read if it exists, and written on stop. */
  static async start(options: { timestamp: number; port?: number; stateFile?: string }): Promise<Anvil> {
    const port = options.port ?? (await freePorts(1))[0]!;
    const child = spawn(
      anvilProgram()!,
      ["--host", "127.0.0.1", "--port", String(port), "--silent", "--no-mining"].concat(
        ["--timestamp", String(options.timestamp)],
        options.stateFile === undefined ? [] : ["--state", options.stateFile],
      ),
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    process.once("exit", () => child.kill("SIGKILL"));
    const anvil = new Anvil(child, port);
    await anvil.#untilReady();
    if ((await anvil.call("eth_getCode", DEPOSIT_CONTRACT, "latest")) === "0x") await anvil.#putContract();
    return anvil;
  }

  private constructor(child: ChildProcess, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#client = new JsonRpcClient({ url: this.url });
    this.#process = child;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  call(method: string, ...params: unknown[]): Promise<unknown> {
    return this.#client.call(method, params, { timeoutMs: 20_000 });
  }

  /** Mines a block with these deposits at that time. */
  async mine(timestamp: number, deposits: readonly phase0.DepositData[] = []): Promise<void> {
    const [from] = (await this.call("eth_accounts")) as string[];
    for (const data of deposits) {
      const { pubkey, withdrawalCredentials, signature, amount } = data;
      const root = ssz.phase0.DepositData.hashTreeRoot(data);
      await this.call("eth_sendTransaction", {
        from,
        to: DEPOSIT_CONTRACT,
        value: `0x${(BigInt(amount) * WEI_PER_GWEI).toString(16)}`,
        gas: "0x7a120",
        data: CONTRACT.encodeFunctionData("deposit", [pubkey, withdrawalCredentials, signature, root]),
      });
    }
    await this.call("evm_setNextBlockTimestamp", timestamp);
    await this.call("evm_mine");
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await ended;
  }

  async #untilReady(): Promise<void> {
    const ended = once(this.#process, "exit").then(([code]) => {
      throw new Error(`anvil ended with ${code} before it answered`);
    });
    const answered = async () => {
      for (;;) {
        const chainId = await this.call("eth_chainId").catch(() => undefined);
        if (chainId !== undefined) return;
      }
    };
    await Promise.race([ended, answered()]);
    ended.catch(() => {});
  }

  async #putContract(): Promise<void> {
    const { code, storage } = contracts.deposit;
    await this.call("anvil_setCode", DEPOSIT_CONTRACT, code);
    for (const [slot, value] of Object.entries(storage)) {
      await this.call("anvil_setStorageAt", DEPOSIT_CONTRACT, slot, value);
    }
  }
}
