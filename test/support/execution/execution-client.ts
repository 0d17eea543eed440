import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";
import { onTestFinished } from "vitest";
import { devChainConfig } from "../../../src/dev/chain-config.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { ExecutionLayer } from "../execution-layer/execution-layer.ts";
import type { ForkTimes } from "../execution-layer/forks.ts";
import { type ExecutionGenesisOptions, executionGenesis } from "../execution-layer/genesis.ts";
import { type ServedExecutionLayer, serveExecutionLayer } from "../execution-layer/http-server.ts";
import { Sender } from "../execution-layer/transactions.ts";

const GENESIS_TIME = 1_700_000_000;
const SLOT_SECONDS = 2;
const SECRET = new Uint8Array(32).fill(7);
const OTHER_SECRET = new Uint8Array(32).fill(8);

interface ExecutionSettings extends Pick<ExecutionGenesisOptions, "chainId"> {
  /** Forks of the dev chain. Default: fulu. */
  forks?: readonly ScheduledFork[];
  /** Default: genesis time of the dev chain. */
  genesisTime?: number;
}

/** An execution layer behind the Engine API on loopback, which can be stopped and restarted. */
export class ExecutionClient {
  readonly layer: ExecutionLayer;
  readonly #forks: readonly ScheduledFork[];
  #server: ServedExecutionLayer;

  /** Closed at the end of the test. */
  static async open(options: ExecutionSettings = {}): Promise<ExecutionClient> {
    const { forks = [{ fork: "fulu", epoch: 0 }], genesisTime = GENESIS_TIME, chainId } = options;
    const genesis = executionGenesis({ timestamp: genesisTime, forks: executionForks(forks), chainId });
    const layer = await ExecutionLayer.open(genesis);
    const client = new ExecutionClient(layer, forks, await serveExecutionLayer(layer, { secret: SECRET }));
    onTestFinished(() => client.stop());
    return client;
  }

  private constructor(layer: ExecutionLayer, forks: readonly ScheduledFork[], server: ServedExecutionLayer) {
    this.layer = layer;
    this.#forks = forks;
    this.#server = server;
  }

  get url(): string {
    return this.#server.url;
  }

  async stop(): Promise<void> {
    await this.#server.close();
  }

  /** Restarts on the same port with its state. */
  async start({ secret = SECRET }: { secret?: Uint8Array } = {}): Promise<void> {
    this.#server = await serveExecutionLayer(this.layer, { secret, port: Number(new URL(this.url).port) });
  }

  /** Restarts with a different JWT secret. */
  async startWithOtherSecret(): Promise<void> {
    await this.start({ secret: OTHER_SECRET });
  }

  sender(account?: 0 | 1 | 2): Sender {
    return new Sender(Number(this.layer.chain.evm.chainId), account);
  }

  /** Options of a dev chain with this client, and others as fallbacks. */
  nodeOptions(...others: readonly ExecutionClient[]): Partial<DevNodeOptions> {
    const jwtSecretFile = join(tempDirectory(), "jwt.hex");
    writeFileSync(jwtSecretFile, Buffer.from(SECRET).toString("hex"), { mode: 0o600 });
    const urls = [this, ...others].map(({ url }) => url);
    return {
      forks: this.#forks,
      execution: { urls, jwtSecretFile },
      validators: 8,
      slotSeconds: SLOT_SECONDS,
      genesisTime: GENESIS_TIME,
    };
  }
}

/** Execution layer forks at the times of the consensus forks. */
function executionForks(forks: readonly ScheduledFork[]): ForkTimes {
  const config = devChainConfig({ forks, slotSeconds: SLOT_SECONDS, genesisTime: GENESIS_TIME });
  const timeOf = (epoch: Epoch) => GENESIS_TIME + epoch * SLOTS_PER_EPOCH * SLOT_SECONDS;
  const times: ForkTimes = {
    shanghai: timeOf(config.CAPELLA_FORK_EPOCH),
    cancun: timeOf(config.DENEB_FORK_EPOCH),
    prague: timeOf(config.ELECTRA_FORK_EPOCH),
    osaka: timeOf(config.FULU_FORK_EPOCH),
  };
  return Object.fromEntries(Object.entries(times).filter(([, time]) => Number.isFinite(time)));
}
