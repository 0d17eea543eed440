import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DevFork } from "../../src/dev/forks.ts";
import { NodeProcess } from "../support/node-process.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

export const VALIDATORS = 64;
export const SLOTS_PER_EPOCH = 8;

interface DevNetworkOptions {
  fork: DevFork;
  slotSeconds: number;
  warmupEpochs: number;
  /** `--dev-validators` of the first node. */
  validators?: string;
}

interface NodeChoice {
  /** Data directory of an earlier node to resume from. */
  dataDir?: string;
  flags?: readonly string[];
}

/** Dev chain node and the nodes that join it, each in its own process. */
export class DevNetwork {
  readonly slotSeconds: number;
  readonly #directory: string;
  readonly #nodes = new Set<NodeProcess>();
  #first: NodeProcess | undefined;
  #address = "";
  #restUrl = "";
  #genesisTime = 0;
  #count = 1;

  /** Runs the work with a new network, then stops its processes and removes its files. */
  static with<T>(options: DevNetworkOptions, work: (network: DevNetwork) => Promise<T>): Promise<T> {
    return withTempDirectory(async (directory) => {
      const network = new DevNetwork(directory, options.slotSeconds);
      try {
        await network.#startFirst(options);
        return await work(network);
      } finally {
        await network.#close();
      }
    });
  }

  private constructor(directory: string, slotSeconds: number) {
    this.#directory = directory;
    this.slotSeconds = slotSeconds;
  }

  /** Node of the dev chain. */
  get first(): NodeProcess {
    if (!this.#first) throw new Error("The network is not started.");
    return this.#first;
  }

  /** Multiaddr of the first node. */
  get address(): string {
    return this.#address;
  }

  get restUrl(): string {
    return this.#restUrl;
  }

  /** Network directory for `--network`. */
  get description(): string {
    return join(this.#directory, "1", "network");
  }

  /** Current time in slots, with fraction. */
  get time(): number {
    return (Date.now() / 1000 - this.#genesisTime) / this.slotSeconds;
  }

  async untilTime(slot: number): Promise<void> {
    await sleep(Math.max(0, (slot - this.time) * this.slotSeconds * 1000));
  }

  newDataDir(): string {
    return join(this.#directory, String(++this.#count));
  }

  async start({ dataDir = this.newDataDir(), flags = [] }: NodeChoice = {}): Promise<NodeProcess> {
    const own = ["--data-dir", dataDir, "--p2p-address", "127.0.0.1", "--p2p-port", "0"];
    const args = ["node", "--network", this.description, ...own, ...flags];
    const node = await NodeProcess.start(`node ${dataDir.slice(this.#directory.length + 1)}`, args);
    this.#nodes.add(node);
    return node;
  }

  async stop(node: NodeProcess, signal?: NodeJS.Signals): Promise<void> {
    this.#nodes.delete(node);
    await node.stop(signal);
  }

  async #startFirst({ fork, warmupEpochs, validators = "all" }: DevNetworkOptions): Promise<void> {
    const flags = `--validators ${VALIDATORS} --fork ${fork} --slot-seconds ${this.slotSeconds} --dev-validators ${validators}`;
    const listening = "--p2p --p2p-port 0 --rest --rest-port 0";
    const own = ["--data-dir", join(this.#directory, "1"), "--warmup-epochs", String(warmupEpochs)];
    const first = await NodeProcess.start("node 1", ["dev", ...`${flags} ${listening}`.split(" "), ...own]);
    this.#nodes.add(first);
    this.#first = first;
    this.#restUrl = (await first.untilLine(/REST is served at (http:\S+)/))[1]!;
    this.#address = (await first.untilLine(/Listening for peers\s+address=(\S+)/))[1]!;
    await first.untilLine(/Dev chain is running/);
    this.#genesisTime = Number((await first.call<{ genesis_time: string }>("get_v1_beacon_genesis")).genesis_time);
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#nodes].map((node) => node.stop()));
  }
}
