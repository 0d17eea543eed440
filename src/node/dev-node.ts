import { ClosingStack } from "../async/closing-stack.ts";
import { TIME_OF_DAY, type TimeOfDay } from "../chain/clock/time-of-day.ts";
import { removeUnfinishedDumps } from "../dev/control/dumps.ts";
import { PresenceStore } from "../dev/control/validator-presence.ts";
import { attachBlobs } from "../dev/dev-blobs.ts";
import { type ClockOffset, DevChain } from "../dev/dev-chain.ts";
import { DevEvm } from "../dev/evm/dev-evm.ts";
import { FeeRecipient } from "../dev/evm/fee-recipient.ts";
import { writeBootnodes, writeNetworkDirectory } from "../dev/network-directory.ts";
import { SlashingProtection, slashingProtectionStore } from "../dev/validators/slashing-protection.ts";
import { EvmThread } from "../evm/thread/evm-thread.ts";
import type { Logger } from "../log/logger.ts";
import { DEFAULT_SYNC_SETTINGS } from "../sync/settings.ts";
import type { ThreadPort } from "../threads/thread.ts";
import { BeaconNode, type SharedOptions } from "./beacon-node.ts";
import { type DevSource, type DevSourceOptions, openDevSource } from "./chain-source/dev-source.ts";
import { sharedReadThread } from "./eth-reads/shared-read-thread.ts";
import { preloadTrustedSetup } from "./preload-trusted-setup.ts";
import { type Servers, type ServersOptions, startServersThread } from "./servers/servers.ts";
import { startSigner } from "./servers/signer.ts";
import { StartError } from "./start-error.ts";
import { moveDamagedDevChainAside } from "./storage/stored-database.ts";

export interface DevNodeOptions extends SharedOptions, DevSourceOptions {
  servers?: ServersOptions;
  timeOfDay?: TimeOfDay;
  /** Replaces the EVM thread in tests. */
  startEvmWorker?: () => ThreadPort;
}

/** Callbacks for `start`. */
interface StartListener {
  /** Called with the directory that other nodes need to join. */
  onJoinable?(networkDirectory: string): void;
  /** Called if the chain time differs from the wall clock. */
  onTimeDifference?(difference: ClockOffset): void;
}

/** A dev chain in one process, with virtual time, in-process validators and the dev execution engine. */
export class DevNode {
  readonly node: BeaconNode<DevSource>;
  readonly devChain: DevChain;
  readonly servers: Servers;
  readonly #networkDirectory: string | undefined;
  readonly #logger: Logger;
  #starting: Promise<void> | undefined;

  /** Opens the dev chain in the data directory, or creates a new one. Time is stopped until `start`. */
  static async open(options: DevNodeOptions): Promise<DevNode> {
    const { logger, timeOfDay = TIME_OF_DAY, networkDirectory, servers = {} } = options;
    await using opening = new ClosingStack();
    // Starts concurrently with the chain.
    const thread = startServersThread(servers, logger);
    opening.defer(() => thread?.close());
    const evm =
      options.evm && new EvmThread({ logger, startWorker: options.startEvmWorker, reads: sharedReadThread() });
    opening.defer(() => evm?.stop());
    await using damaged = options.reset ? await moveDamagedDevChainAside(options.dataDir, logger) : undefined;
    let opened: DevChain | undefined;
    const node = await BeaconNode.open({
      ...options,
      sync: DEFAULT_SYNC_SETTINGS,
      isWarmedUp: () => opened?.isLive === true,
      control: () => opened?.control,
      eth: () => opened?.evm?.eth,
      // Writes survive the process being killed, but not a power failure.
      waitForDisk: false,
      source: async (db) => {
        const source = await openDevSource(db, options, timeOfDay, evm);
        await damaged?.remove();
        return source;
      },
    });
    opening.defer(() => node.close());
    options.signal?.throwIfAborted();
    const { source, db, chain } = node;
    await removeUnfinishedDumps(db.path);
    attachBlobs(source.engine, { config: chain.config, counts: options.devBlobs });
    const hasNetwork = node.networking !== undefined;
    const history = await SlashingProtection.open(slashingProtectionStore(db));
    const devChain = new DevChain({
      ...source,
      evm: source.evm && new DevEvm(source.evm, { chain, db, hasNetwork }),
      chain,
      db,
      api: node.api,
      hasNetwork,
      timeOfDay,
      settings: options,
      hasExecutionClient: options.execution !== undefined || options.eth1.length > 0,
      presenceStore: await PresenceStore.open(db),
      feeRecipient: await FeeRecipient.open(db),
      history,
      storeSlot: (slot) => db.meta.putClockSlot(slot),
      logger,
    });
    opened = devChain;
    node.own(devChain);
    if (source.authority === "founder") recordFirstPeer(node, logger);
    if (networkDirectory !== undefined) await writeNetworkFiles(networkDirectory, devChain);
    const running = await node.serve(servers, { thread, evm: devChain.evm });
    const signer = servers.signer && (await startSigner(devChain, history, servers.signer, logger.topic("validators")));
    if (signer) node.own(signer);
    opening.move();
    return new DevNode({ node, devChain, servers: { ...running, signerUrl: signer?.url }, networkDirectory, logger });
  }

  private constructor(parts: {
    node: BeaconNode<DevSource>;
    devChain: DevChain;
    servers: Servers;
    networkDirectory: string | undefined;
    logger: Logger;
  }) {
    this.node = parts.node;
    this.devChain = parts.devChain;
    this.servers = parts.servers;
    this.#networkDirectory = parts.networkDirectory;
    this.#logger = parts.logger;
  }

  /** Creates missing history, then starts the network and the clock. */
  start(listener: StartListener = {}): Promise<void> {
    this.#starting = this.#start(listener);
    return this.#starting;
  }

  async #start(listener: StartListener): Promise<void> {
    const { devChain, node } = this;
    const { isNew, missingSlots } = devChain;
    if (!isNew && missingSlots > 0) this.#logger.notice("Catching up on missed slots", { slots: missingSlots });
    await node.untilReady(devChain.evm?.ready);
    await devChain.warmUp();
    if (node.networking) {
      node.own(preloadTrustedSetup(node.chain));
      await node.networking.start();
      if (this.#networkDirectory !== undefined) {
        await publishBootnode(this.#networkDirectory, node.networking.listening.enr);
        listener.onJoinable?.(this.#networkDirectory);
      }
      // Catches up on slots that passed while the network was starting.
      await devChain.warmUp();
    }
    const { head, forkChoice } = node.chain;
    this.#logger.notice("Dev chain is running", { slot: head.slot, finalizedEpoch: forkChoice.finalized.epoch });
    const { clockOffset } = devChain;
    if (clockOffset) listener.onTimeDifference?.(clockOffset);
    await devChain.run();
  }

  onFailure(callback: (failure: unknown) => void): void {
    this.node.onFailure(callback);
  }

  /** Closes the node and aborts a pending start. */
  async close(): Promise<void> {
    await this.node.halt();
    await this.#starting?.catch(() => {});
    await this.node.close();
  }
}

/**
 * Records in the database that another node has joined. From then on, the chain may advance while this node is stopped.
 */
function recordFirstPeer({ networking, db }: BeaconNode<DevSource>, logger: Logger): void {
  const stop = networking?.network.peers.onChange(() => {
    if (networking.network.peers.list().length === 0) return;
    stop?.();
    db.meta.putJoined().catch((error: unknown) => {
      logger.error("Failed to record that another node joined", { error });
    });
  });
}

/** Writes the network directory for other nodes. */
async function writeNetworkFiles(directory: string, { chain, config, isNew }: DevChain): Promise<void> {
  const genesisState = async () => {
    const genesis = await chain.states.genesis();
    if (genesis === null) throw new Error("the database has no genesis state");
    return genesis.serialize();
  };
  await withWriteErrors(directory, () => writeNetworkDirectory(directory, { config, isNew, genesisState }));
}

/** Publishes this node as the bootnode of the network. */
async function publishBootnode(directory: string, record: string): Promise<void> {
  await withWriteErrors(directory, () => writeBootnodes(directory, [record]));
}

async function withWriteErrors(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError("dataDirUnusable", `${directory} cannot be written: ${reason}.`, error);
  }
}
