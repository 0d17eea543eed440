import { ClosingStack } from "../async/closing-stack.ts";
import { TIME_OF_DAY, type TimeOfDay } from "../chain/clock/time-of-day.ts";
import { removeUnfinishedDumps } from "../dev/control/dumps.ts";
import { StoredPresence } from "../dev/control/validators.ts";
import { carryBlobs } from "../dev/dev-blobs.ts";
import { DevChain, type TimeDifference } from "../dev/dev-chain.ts";
import { writeBootnodes, writeNetworkDirectory } from "../dev/network-directory.ts";
import { SlashingProtection, slashingProtectionStore } from "../dev/validators/slashing-protection.ts";
import type { Logger } from "../log/logger.ts";
import { BeaconNode, type SharedOptions } from "./beacon-node.ts";
import { readyForBlobs } from "./commitments-ahead.ts";
import { type DevSource, type DevSourceOptions, openDevSource } from "./dev-source.ts";
import { prepareServers, type Servers, type ServersOptions } from "./servers.ts";
import { StartError } from "./start-error.ts";
import { putDamagedDevChainAside } from "./stored-database.ts";

export interface DevNodeOptions extends SharedOptions, DevSourceOptions {
  servers?: ServersOptions;
  timeOfDay?: TimeOfDay;
}

/** Who is told what a start leads to. */
interface StartListener {
  /** Others can join by that directory from now on. */
  onJoinable?(networkDirectory: string): void;
  /** The chain begins to run at another time than the time of day. */
  onTimeDifference?(difference: TimeDifference): void;
}

/** A whole beacon chain in one process: a node with virtual time, validators of its own, and the dev execution engine. */
export class DevNode {
  readonly node: BeaconNode<DevSource>;
  readonly devChain: DevChain;
  readonly servers: Servers;
  readonly #networkDirectory: string | undefined;
  readonly #logger: Logger;
  #starting: Promise<void> | undefined;

  /** Opens the dev chain of the data directory where it stopped, or makes a new one there. Time stands still at first. */
  static async open(options: DevNodeOptions): Promise<DevNode> {
    const { logger, timeOfDay = TIME_OF_DAY, networkDirectory, servers = {} } = options;
    await using opening = new ClosingStack();
    // It starts while the chain is opened.
    const thread = prepareServers(servers, logger);
    opening.defer(() => thread?.close());
    await using damaged = options.reset ? await putDamagedDevChainAside(options.dataDir, logger) : undefined;
    let opened: DevChain | undefined;
    const node = await BeaconNode.open({
      ...options,
      isWarmedUp: () => opened?.isLive === true,
      control: () => opened?.control,
      // A dev chain need not survive a power cut; that a killed process loses nothing does not depend on this.
      waitForDisk: false,
      source: async (db) => {
        const source = await openDevSource(db, options, timeOfDay);
        await damaged?.remove();
        return source;
      },
    });
    opening.defer(() => node.close());
    options.signal?.throwIfAborted();
    const { source, db, chain } = node;
    await removeUnfinishedDumps(db.path);
    if (options.devBlobs) {
      carryBlobs(source.engine, { config: chain.config, counts: options.devBlobs });
    }
    const devChain = new DevChain({
      ...source,
      chain,
      db,
      api: node.api,
      hasNetwork: node.networking !== undefined,
      timeOfDay,
      activeValidators: options.activeValidators,
      catchesUp: options.catchUp === true,
      flows: options.speed > 0,
      hasExecutionClient: options.execution !== undefined || (options.eth1?.length ?? 0) > 0,
      storedPresence: await StoredPresence.open(db),
      history: await SlashingProtection.open(slashingProtectionStore(db)),
      keepSlot: (slot) => db.meta.putClockSlot(slot),
      warmupEpochs: options.warmupEpochs,
      logger,
    });
    opened = devChain;
    node.own(devChain);
    if (source.authority === "founder") noteJoining(node, logger);
    if (networkDirectory !== undefined) await describeNetwork(networkDirectory, devChain);
    const running = await node.serve(servers, thread);
    opening.move();
    return new DevNode({ node, devChain, servers: running, networkDirectory, logger });
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

  /** Makes the history that is missing, lets other nodes in, and lets time flow. */
  start(listener: StartListener = {}): Promise<void> {
    this.#starting = this.#start(listener);
    return this.#starting;
  }

  async #start(listener: StartListener): Promise<void> {
    const { devChain, node } = this;
    const { isNew, missingSlots } = devChain;
    if (!isNew && missingSlots > 0)
      this.#logger.notice("The chain makes up for missing slots", { slots: missingSlots });
    await devChain.warmUp();
    if (node.networking) {
      node.own(readyForBlobs(node.chain));
      await node.networking.start();
      if (this.#networkDirectory !== undefined) {
        await inviteOthers(this.#networkDirectory, node.networking.listening.enr);
        listener.onJoinable?.(this.#networkDirectory);
      }
      // Time went on meanwhile.
      await devChain.warmUp();
    }
    const { head, forkChoice } = node.chain;
    this.#logger.notice("The dev chain is running", { slot: head.slot, finalizedEpoch: forkChoice.finalized.epoch });
    const { timeDifference } = devChain;
    if (timeDifference) listener.onTimeDifference?.(timeDifference);
    await devChain.run();
  }

  onFailure(callback: (failure: unknown) => void): void {
    this.node.onFailure(callback);
  }

  /** A start that is under way fails by this. */
  async close(): Promise<void> {
    await this.node.halt();
    await this.#starting?.catch(() => {});
    await this.node.close();
  }
}

/** Takes note of the first other node: from then on the chain may have gone on elsewhere whenever this one starts again. */
function noteJoining({ networking, db }: BeaconNode<DevSource>, logger: Logger): void {
  const stop = networking?.network.peers.onChange(() => {
    if (networking.network.peers.list().length === 0) return;
    stop?.();
    db.meta.putJoined().catch((error: unknown) => {
      logger.error("It could not be noted that another node has joined the chain", { error });
    });
  });
}

/** Writes down what other nodes need to know of the chain. */
async function describeNetwork(directory: string, { chain, config, isNew }: DevChain): Promise<void> {
  const genesisState = async () => {
    const genesis = await chain.states.genesis();
    if (genesis === null) throw new Error("the database does not hold the chain's genesis state");
    return genesis.serialize();
  };
  await writing(directory, () => writeNetworkDirectory(directory, { config, isNew, genesisState }));
}

/** Names this node as the one from which others find the network; from now on they can. */
async function inviteOthers(directory: string, record: string): Promise<void> {
  await writing(directory, () => writeBootnodes(directory, [record]));
}

async function writing(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError("dataDirUnusable", `${directory} cannot be written: ${reason}.`, error);
  }
}
