import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePorts } from "../support/sockets/free-ports.ts";
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
  /** Epochs of all forks that this Lodestar supports. */
  forkEpochs: Readonly<Record<string, number | typeof NEVER>>;
  /** True if it keeps all columns, so that others can sync from it alone. */
  supernode?: boolean;
}

export interface LodestarJoiningOptions extends Placed {
  /** With the chain's config.yaml and genesis.ssz. */
  networkDirectory: string;
  /** ENRs in text form. */
  bootnodes: readonly string[];
  /** True to connect to the bootnodes themselves, not only to nodes that they return. */
  dialsBootnodes?: boolean;
  /** True if it keeps all columns, so that others can sync from it alone. */
  supernode?: boolean;
  /** Execution client behind the Engine API; by default a mock that finds everything valid. */
  execution?: { url: string; secretFile: string };
  /** Node whose finalized state it starts from, instead of genesis. */
  checkpointSyncUrl?: string;
  /** First and last of its validators; none by default. */
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

/** Slots of two seconds. Current versions count milliseconds and report both. */
const slotLength = (install: LodestarInstall | undefined) => [
  ...["--params.SECONDS_PER_SLOT", "2"],
  ...(install ? ["--params.SLOT_DURATION_MS", "2000"] : []),
];

/** Number of requests by kind. */
export type RequestCounts = Record<string, number>;

/** Lodestar's beacon node. */
export class LodestarBeacon {
  readonly process: LodestarProcess;
  readonly rest: BeaconRest;
  readonly #metricsUrl: string;
  #validator: LodestarProcess | undefined;

  /** Its own chain with all validators, which starts after some seconds. */
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

  /** A node of an existing chain, with or without validators. */
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

  /** The node, and its validator client if it has one. */
  get processes(): readonly LodestarProcess[] {
    return this.#validator ? [this.process, this.#validator] : [this.process];
  }

  /** Resolves like the work, but rejects if the node or its validator client exits first. */
  meanwhile<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, ...this.processes.map(({ ended }) => ended)]);
  }

  async identity(): Promise<{ address: string; enr: string }> {
    const { enr, p2p_addresses: addresses } = await this.rest.get<{ enr: string; p2p_addresses: string[] }>(
      "/eth/v1/node/identity",
    );
    return { address: addresses[0]!, enr };
  }

  /** Connects it to a node at once. */
  async connect(address: string): Promise<void> {
    const peerId = address.split("/").at(-1)!;
    const query = new URLSearchParams({ peerId, multiaddr: address });
    const response = await fetch(`${this.rest.url}/eth/v1/lodestar/connect_peer?${query}`, { method: "POST" });
    if (!response.ok) throw new Error(`Lodestar does not connect to ${address}: ${await response.text()}`);
  }

  /** Requests received from peers. */
  requestsServed(): Promise<RequestCounts> {
    return this.#counts("beacon_reqresp_incoming_requests_total", "method");
  }

  /** Requests sent to peers. */
  requestsMade(): Promise<RequestCounts> {
    return this.#counts("beacon_reqresp_outgoing_requests_total", "method");
  }

  /** Accepted gossip messages by kind. */
  gossipAccepted(): Promise<RequestCounts> {
    return this.#counts("lodestar_gossip_validation_accept_total", "topic");
  }

  /** Rejected gossip messages by kind. */
  gossipRejected(): Promise<RequestCounts> {
    return this.#counts("lodestar_gossip_validation_reject_total", "topic");
  }

  /** Non-zero values of a metric by one of its labels. */
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
