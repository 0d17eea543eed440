import { join } from "node:path";
import type { BeaconConfig } from "@lodestar/config";
import { createPubkeyCache } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { type Api, createApi } from "../../../src/api/api.ts";
import { BeaconChain } from "../../../src/chain/chain.ts";
import type { VirtualClock } from "../../../src/chain/clock/virtual-clock.ts";
import type { BeaconDb } from "../../../src/db/beacon-db.ts";
import { openDatabase } from "../../../src/db/open-database.ts";
import { onlyKeysOf } from "../../../src/dev/active-keys.ts";
import { InteropKeys } from "../../../src/dev/interop-keys.ts";
import type { Pace } from "../../../src/dev/validators/pace.ts";
import { createDevValidators } from "../../../src/dev/validators/validators.ts";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { LocalNode } from "../../../src/network/local-node.ts";
import { openNodeKey } from "../../../src/network/node-key.ts";
import { type OpenNetworking, type OpenNetworkingParts, openNetworking } from "../../../src/sync/open-networking.ts";

export interface TestNodeOptions {
  config: BeaconConfig;
  clock: VirtualClock;
  /** Holds a database with the genesis of the chain. */
  directory: string;
  /** How many validators the chain has. */
  validatorCount: number;
  /** Those that this node runs. */
  validators: readonly ValidatorIndex[];
  /** Multiaddresses to connect to. */
  peers: readonly string[];
  targetPeers?: number;
  /** Of its validators; in lockstep they wait for nobody, which makes history fast as long as no other node acts. */
  pace?: Pace;
  discovery?: boolean;
  requestLimits?: OpenNetworkingParts["requestLimits"];
  syncLimits?: OpenNetworkingParts["syncLimits"];
  /** Whether this node speaks to that peer at all. */
  allowPeer?(peerId: string): boolean;
}

/** A whole node in this process: chain, network, sync, and some of the chain's validators, on a clock that it shares with others. */
export class TestNode {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly keys: InteropKeys;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly networking: OpenNetworking;
  readonly #db: BeaconDb;
  readonly #log: string[];
  readonly #stopValidators: () => Promise<void>;
  #closed: Promise<void> | undefined;

  static async open(options: TestNodeOptions): Promise<TestNode> {
    const { config, clock, directory } = options;
    const log: string[] = [];
    const { logger, setSpec } = createLogger({
      format: "text",
      spec: "DEBUG",
      destination: { write: (line) => log.push(line) },
    });
    const db = await openDatabase(join(directory, "beacon-db"), { sync: false });
    const engine = new DevExecutionEngine();
    const chain = await BeaconChain.open({ config, db, clock, engine, pubkeyCache: createPubkeyCache(), logger });
    const networking = await openNetworking({
      chain,
      db,
      node: await LocalNode.open({ key: await openNodeKey(db), config, clock, db }),
      options: {
        address: "127.0.0.1",
        port: 0,
        discovery: options.discovery ?? false,
        bootnodes: [],
        directPeers: [...options.peers],
        targetPeers: options.targetPeers ?? 16,
      },
      allowPeer: options.allowPeer,
      heartbeatMs: 100,
      requestLimits: options.requestLimits,
      syncLimits: options.syncLimits,
      logger,
    });
    const { view: network, broadcast, sync } = networking;
    const api = createApi({ chain, network, broadcast, sync, setLogSpec: setSpec });
    return new TestNode({ chain, api, networking, db, log, options });
  }

  private constructor({
    chain,
    api,
    networking,
    db,
    log,
    options: { config, clock, validatorCount, validators, pace = "clock" },
  }: {
    chain: BeaconChain;
    api: Api;
    networking: OpenNetworking;
    db: BeaconDb;
    log: string[];
    options: TestNodeOptions;
  }) {
    this.config = config;
    this.clock = clock;
    this.keys = new InteropKeys(validatorCount);
    this.chain = chain;
    this.api = api;
    this.networking = networking;
    this.#db = db;
    this.#log = log;
    chain.start();
    const keys = onlyKeysOf(this.keys, validators);
    const logger = createLogger({
      format: "text",
      spec: "WARN",
      destination: { write: (line) => log.push(line) },
    }).logger;
    const acting = createDevValidators({ api, clock, config, keys, logger });
    const stops = [
      chain.events.on("head", (head) => acting.onHead(head)),
      clock.onSlot(async (slot) => {
        if (!networking.sync.isSyncing) await acting.onSlot(slot, pace);
      }),
    ];
    this.#stopValidators = async () => {
      for (const stop of stops) stop();
      await acting.close();
    };
  }

  /** Where others connect to. */
  get address(): string {
    return this.networking.listening.p2p[0]!;
  }

  get peerId(): string {
    return this.address.split("/").at(-1)!;
  }

  /** Everything it has logged, for a test that failed. */
  get log(): readonly string[] {
    return this.#log;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#stopValidators();
    await this.networking.close();
    await this.chain.close();
    await this.#db.close();
  }
}
