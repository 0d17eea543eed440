import type { BeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import type { Slot, ValidatorIndex } from "@lodestar/types";
import type { Api } from "../../../src/api/api.ts";
import { initialiseDatabase } from "../../../src/chain/anchor/anchor.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import type { VirtualClock } from "../../../src/chain/clock/virtual-clock.ts";
import type { Authority } from "../../../src/chain/head/sync-status.ts";
import { attachBlobs, type BlobCounts } from "../../../src/dev/dev-blobs.ts";
import { DevEvm } from "../../../src/dev/evm/dev-evm.ts";
import { openEvmChain } from "../../../src/dev/evm/open-evm.ts";
import { InteropKeys } from "../../../src/dev/interop-keys.ts";
import { selectKeys } from "../../../src/dev/validator-keys.ts";
import type { DutyTiming } from "../../../src/dev/validators/duty-timing.ts";
import { createDevValidators } from "../../../src/dev/validators/validators.ts";
import { EvmThread } from "../../../src/evm/thread/evm-thread.ts";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { BeaconNode } from "../../../src/node/beacon-node.ts";
import { sharedReadThread } from "../../../src/node/eth-reads/shared-read-thread.ts";
import type { Networking, NetworkingParts } from "../../../src/node/networking.ts";
import { DEFAULT_SYNC_SETTINGS } from "../../../src/sync/settings.ts";
import { createRememberingVerifier } from "../../support/bls/remembering-verifier.ts";
import { NODE_SETTINGS } from "../../support/chain/settings.ts";
import { sharedKzg } from "../../support/data/kzg/shared-kzg.ts";
import { SameThreadEvm } from "../../support/evm/thread/same-thread.ts";

export interface TestNodeOptions {
  config: BeaconConfig;
  clock: VirtualClock;
  /** The anchor state: genesis, or a later one. */
  anchor: BeaconStateAllForks;
  /** Empty, or of a closed node. */
  directory: string;
  /** Number of validators of the chain. */
  validatorCount: number;
  /** Validators of this node. */
  validators: readonly ValidatorIndex[];
  /** Multiaddresses to connect to. */
  peers: readonly string[];
  targetPeers?: number;
  /** Duty timing of its validators. Lockstep produces history fast while no other node has duties. */
  timing?: DutyTiming;
  /** Slots without duties. */
  restsAt?: readonly Slot[];
  /** Default: an ordinary member. */
  authority?: Authority;
  discovery?: boolean;
  /** True for a supernode. */
  supernode?: boolean;
  /** True if an EVM executes its payloads. */
  hasEvm?: boolean;
  /** Blobs per payload; none by default. */
  blobs?: BlobCounts;
  requestLimits?: NetworkingParts["requestLimits"];
  syncLimits?: NetworkingParts["syncLimits"];
  /** Returns false to block the peer. */
  allowPeer?(peerId: string): boolean;
}

/** A complete node in this process, with some of the chain's validators and a shared clock. */
export class TestNode {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly keys: InteropKeys;
  readonly chain: BeaconChain;
  readonly api: Api;
  readonly networking: Networking;
  readonly evm: SameThreadEvm | undefined;
  readonly #node: BeaconNode;
  readonly #log: string[];

  static async open(options: TestNodeOptions): Promise<TestNode> {
    const { config, clock, anchor } = options;
    const log: string[] = [];
    const { logger, setSpec } = createLogger({
      format: "text",
      spec: "DEBUG",
      destination: { write: (line) => log.push(line) },
    });
    const evm = options.hasEvm ? new SameThreadEvm() : undefined;
    const thread = evm && new EvmThread({ logger, startWorker: evm.startWorker, reads: sharedReadThread() });
    let devEvm: DevEvm | undefined;
    const node = await BeaconNode.open({
      ...NODE_SETTINGS,
      sync: DEFAULT_SYNC_SETTINGS,
      dataDir: options.directory,
      waitForDisk: false,
      async source(db) {
        const isNew = (await db.meta.getIdentity()) === null;
        if (isNew) await initialiseDatabase(db, config, { state: anchor }, { kind: "test" });
        if (thread && !(await openEvmChain(thread, config))) throw new Error("The chain has another block 0.");
        const engine = thread ?? new DevExecutionEngine();
        if (options.blobs) attachBlobs(engine, { config, counts: options.blobs });
        return { config, clock, engine, authority: options.authority, close: async () => thread?.stop() };
      },
      eth: () => devEvm?.eth,
      networking: {
        address: "127.0.0.1",
        port: 0,
        discovery: options.discovery ?? false,
        bootnodes: [],
        directPeers: [...options.peers],
        targetPeers: options.targetPeers ?? 16,
        supernode: options.supernode ?? false,
      },
      networkTuning: {
        allowPeer: options.allowPeer,
        heartbeatMs: 100,
        requestLimits: options.requestLimits,
        syncLimits: options.syncLimits,
      },
      chainTuning: { kzg: sharedKzg, createVerifier: createRememberingVerifier },
      logger,
      setLogSpec: setSpec,
    });
    devEvm = thread && new DevEvm(thread, { chain: node.chain, db: node.db, hasNetwork: true });
    await devEvm?.ready;
    return new TestNode(node, log, options, evm);
  }

  private constructor(
    node: BeaconNode,
    log: string[],
    { config, clock, validatorCount, validators, timing = "clock", restsAt = [] }: TestNodeOptions,
    evm: SameThreadEvm | undefined,
  ) {
    this.evm = evm;
    const { chain, api } = node;
    const networking = node.networking!;
    this.config = config;
    this.clock = clock;
    this.keys = new InteropKeys(validatorCount);
    this.chain = chain;
    this.api = api;
    this.networking = networking;
    this.#node = node;
    this.#log = log;
    const keys = selectKeys(this.keys, validators);
    const logger = createLogger({
      format: "text",
      spec: "WARN",
      destination: { write: (line) => log.push(line) },
    }).logger;
    // A single node does not broadcast single votes.
    const fastPath = { chain, isAllowed: () => networking.view.peerCounts().connected === 0 };
    const acting = createDevValidators({ api, clock, config, keys, logger, fastPath });
    const stops = [
      chain.events.on("head", (head) => acting.onHead(head)),
      clock.onSlot(async (slot) => {
        if (!networking.sync.isSyncing && !restsAt.includes(slot)) await acting.onSlot(slot, timing);
      }),
    ];
    node.own({
      async close() {
        for (const stop of stops) stop();
        await acting.close();
      },
    });
  }

  /** Listening addresses. */
  get address(): string {
    return this.networking.listening.p2p[0]!;
  }

  get peerId(): string {
    return this.address.split("/").at(-1)!;
  }

  /** All log lines, for failed tests. */
  get log(): readonly string[] {
    return this.#log;
  }

  close(): Promise<void> {
    return this.#node.close();
  }
}
