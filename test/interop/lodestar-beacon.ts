import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePorts } from "../support/free-ports.ts";
import { BeaconRest } from "./beacon-rest.ts";
import type { LodestarInstall } from "./lodestar-install.ts";
import { LodestarProcess, type LodestarProcessOptions } from "./lodestar-process.ts";
import { startLodestarValidator } from "./lodestar-validator.ts";

const POLL_MS = 100;
/** The epoch of a fork that is not scheduled. */
export const NEVER = "18446744073709551615";

type Placed = Omit<LodestarProcessOptions, "args">;

export interface LodestarDevOptions extends Placed {
  validators: number;
  /** When its forks are, of all that this Lodestar knows. */
  forkEpochs: Readonly<Record<string, number | typeof NEVER>>;
  /** Whether it keeps all columns of blobs, so that anybody can sync from it alone. */
  supernode?: boolean;
}

export interface LodestarJoiningOptions extends Placed {
  /** With the chain's config.yaml and genesis.ssz. */
  networkDirectory: string;
  /** Records (ENR) in their text form. */
  bootnodes: readonly string[];
  /** Whether it connects to the bootnodes themselves, instead of asking them for others alone. */
  dialsBootnodes?: boolean;
  /** Whether it keeps all columns of blobs, so that anybody can sync from it alone. */
  supernode?: boolean;
  /** An execution client behind the Engine API; one that takes everything for valid when left out. */
  execution?: { url: string; secretFile: string };
  /** Whose finalized state it starts from, instead of genesis. */
  checkpointSyncUrl?: string;
  /** The first and the last of the validators that it runs; none when left out. */
  validators?: readonly [first: number, last: number];
}

interface Start extends Placed {
  command: "dev" | "beacon";
  /** The flags that describe the chain. */
  chain: readonly string[];
  /** The other flags. */
  args: readonly string[];
  validators?: readonly [first: number, last: number] | undefined;
}

/** Slots of two seconds, which current ones count in milliseconds; they tell others both numbers. */
const slotLength = (install: LodestarInstall | undefined) => [
  ...["--params.SECONDS_PER_SLOT", "2"],
  ...(install ? ["--params.SLOT_DURATION_MS", "2000"] : []),
];

/** How often each kind of request was made. */
export type RequestCounts = Record<string, number>;

/** Lodestar's beacon node, ended by whoever is told how. */
export class LodestarBeacon {
  readonly process: LodestarProcess;
  readonly rest: BeaconRest;
  readonly #metricsUrl: string;
  #validator: LodestarProcess | undefined;

  /** A chain of its own, with all its validators, that begins some seconds after the start. */
  static dev({ validators, forkEpochs, supernode = false, ...placed }: LodestarDevOptions): Promise<LodestarBeacon> {
    const forks = Object.entries(forkEpochs).map(([fork, epoch]) => [
      `--params.${fork.toUpperCase()}_FORK_EPOCH`,
      String(epoch),
    ]);
    return LodestarBeacon.#start({
      command: "dev",
      chain: [...slotLength(placed.install), ...forks.flat()],
      args: ["--genesisValidators", String(validators), ...(supernode ? ["--supernode"] : [])],
      validators: [0, validators - 1],
      ...placed,
    });
  }

  /** A node, with or without validators, of a chain that others began. */
  static joining(options: LodestarJoiningOptions): Promise<LodestarBeacon> {
    const {
      networkDirectory,
      bootnodes,
      dialsBootnodes = false,
      supernode = false,
      execution,
      checkpointSyncUrl,
      ...rest
    } = options;
    const args = [
      ["--network", "dev"],
      ["--genesisStateFile", `${networkDirectory}/genesis.ssz`],
      ["--bootnodes", ...bootnodes],
      ["--network.connectToDiscv5Bootnodes", String(dialsBootnodes)],
      ["--eth1", "false"],
      execution
        ? ["--execution.urls", execution.url, "--jwtSecret", execution.secretFile]
        : ["--execution.engineMock", "true"],
      supernode ? ["--supernode"] : [],
      checkpointSyncUrl === undefined ? [] : ["--checkpointSyncUrl", checkpointSyncUrl],
    ].flat();
    return LodestarBeacon.#start({
      command: "beacon",
      chain: ["--paramsFile", `${networkDirectory}/config.yaml`],
      args,
      ...rest,
    });
  }

  static async #start({ command, chain, args, validators, directory, ...placed }: Start): Promise<LodestarBeacon> {
    const [rest, metrics, p2p] = (await freePorts(3)) as [number, number, number];
    const restUrl = `http://127.0.0.1:${rest}`;
    const own = [
      ["--preset", "minimal"],
      ["--dataDir", join(directory, "beacon")],
      ["--rest", "--rest.address", "127.0.0.1", "--rest.port", String(rest), "--rest.namespace", "*"],
      ["--metrics", "--metrics.address", "127.0.0.1", "--metrics.port", String(metrics)],
      ["--listenAddress", "127.0.0.1", "--port", String(p2p), "--discoveryPort", String(p2p)],
      ["--enr.ip", "127.0.0.1", "--mdns", "false"],
      ["--logLevel", "verbose", "--logFile", "none"],
    ].flat();
    const process = new LodestarProcess({ args: [command, ...own, ...chain, ...args], directory, ...placed });
    const beacon = new LodestarBeacon(process, restUrl, `http://127.0.0.1:${metrics}/metrics`);
    await Promise.race([beacon.#untilServed(), process.ended]);
    if (validators) {
      // In one process with the node, the two would open their metrics on the same port.
      const home = join(directory, "validator");
      mkdirSync(home);
      beacon.#validator = startLodestarValidator({ restUrl, validators, chain, directory: home, ...placed });
    }
    return beacon;
  }

  private constructor(process: LodestarProcess, restUrl: string, metricsUrl: string) {
    this.process = process;
    this.rest = new BeaconRest(restUrl);
    this.#metricsUrl = metricsUrl;
  }

  /** The node, and the client of its validators if it has any. */
  get processes(): readonly LodestarProcess[] {
    return this.#validator ? [this.process, this.#validator] : [this.process];
  }

  /** Resolves like the work does, but rejects when the node or its validator client ends before. */
  meanwhile<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, ...this.processes.map(({ ended }) => ended)]);
  }

  async identity(): Promise<{ address: string; enr: string }> {
    const { enr, p2p_addresses: addresses } = await this.rest.get<{ enr: string; p2p_addresses: string[] }>(
      "/eth/v1/node/identity",
    );
    return { address: addresses[0]!, enr };
  }

  /** Connects it to a node at once, whatever it would do by itself. */
  async connect(address: string): Promise<void> {
    const peerId = address.split("/").at(-1)!;
    const query = new URLSearchParams({ peerId, multiaddr: address });
    const response = await fetch(`${this.rest.url}/eth/v1/lodestar/connect_peer?${query}`, { method: "POST" });
    if (!response.ok) throw new Error(`Lodestar does not connect to ${address}: ${await response.text()}`);
  }

  /** What peers have asked of it. */
  requestsServed(): Promise<RequestCounts> {
    return this.#counts("beacon_reqresp_incoming_requests_total", "method");
  }

  /** What it has asked of peers. */
  requestsMade(): Promise<RequestCounts> {
    return this.#counts("beacon_reqresp_outgoing_requests_total", "method");
  }

  /** How many gossip messages of each kind it found right. */
  gossipAccepted(): Promise<RequestCounts> {
    return this.#counts("lodestar_gossip_validation_accept_total", "topic");
  }

  /** How many gossip messages of each kind it found wrong. */
  gossipRejected(): Promise<RequestCounts> {
    return this.#counts("lodestar_gossip_validation_reject_total", "topic");
  }

  /** The values of one of its metrics by one of its labels; those that are zero are left out. */
  async #counts(metric: string, label: string): Promise<RequestCounts> {
    const response = await fetch(this.#metricsUrl);
    const pattern = new RegExp(`^${metric}\\{(?:.*,)?${label}="([^"]+)".*\\} (\\S+)$`, "gm");
    const found = (await response.text()).matchAll(pattern);
    return Object.fromEntries(
      [...found].map((match) => [match[1]!, Number(match[2])] as const).filter(([, value]) => value !== 0),
    );
  }

  async #untilServed(): Promise<void> {
    while (!this.process.hasEnded) {
      try {
        await this.rest.get("/eth/v1/node/identity");
        return;
      } catch {
        await delay(POLL_MS);
      }
    }
  }
}
