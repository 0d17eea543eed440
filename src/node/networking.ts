import type { SuspensionWatch } from "../chain/clock/suspension-watch.ts";
import type { Authority } from "../chain/head/sync-status.ts";
import { errorCode } from "../errors/error-code.ts";
import type { Broadcast } from "../network/broadcast.ts";
import { Network, type NetworkParts } from "../network/network.ts";
import type { ListeningAddresses, NetworkSettings } from "../network/network-settings.ts";
import type { NetworkView } from "../network/network-view.ts";
import { Backfill } from "../sync/backfill/backfill.ts";
import type { RangeSyncLimits } from "../sync/limits.ts";
import type { SyncSettings } from "../sync/settings.ts";
import { Sync } from "../sync/sync.ts";
import { StartError } from "./start-error.ts";

export interface NetworkingParts extends Omit<NetworkParts, "unknownBlocks"> {
  sync: SyncSettings;
  /** Overrides of the defaults. */
  syncLimits?: Partial<RangeSyncLimits>;
  authority?: Authority;
  /** Omitted if the process is never suspended. */
  suspensions?: Pick<SuspensionWatch, "onSuspended">;
}

/** The network, sync and backfill of a node. */
export class Networking {
  readonly network: Network;
  readonly sync: Sync;
  readonly #backfill: Backfill;
  readonly #parts: NetworkingParts;
  #stopWatching: (() => void) | undefined;

  static async open(parts: NetworkingParts): Promise<Networking> {
    const network = await Network.open({
      ...parts,
      unknownBlocks: {
        onUnknownParent: (signed, peerId) => sync.onUnknownParent(signed, peerId),
        onUnknownBlock: (root, peerId) => sync.onUnknownBlock(root, peerId),
        onUnknownPayload: (root, peerId) => sync.onUnknownPayload(root, peerId),
      },
    });
    const sync = new Sync({
      chain: parts.chain,
      peers: network.peers,
      logger: parts.logger,
      limits: parts.syncLimits,
      authority: parts.authority,
      settings: parts.sync,
    });
    const { chain, logger, sync: settings } = parts;
    const backfill = new Backfill({ chain, peers: network.peers, sync, settings, logger });
    return new Networking(network, sync, backfill, parts);
  }

  private constructor(network: Network, sync: Sync, backfill: Backfill, parts: NetworkingParts) {
    this.network = network;
    this.sync = sync;
    this.#backfill = backfill;
    this.#parts = parts;
  }

  get view(): NetworkView {
    return this.network.view;
  }

  get broadcast(): Broadcast {
    return this.network.gossip;
  }

  /** Returns true if any peer is known, including peers from earlier runs. */
  get knowsPeers(): boolean {
    return Object.values(this.view.peerCounts()).some((count) => count > 0);
  }

  /** Listening addresses and ENR. Valid after `start`. */
  get listening(): ListeningAddresses {
    return this.network.listening;
  }

  /** Starts listening, sync and backfill. */
  async start(): Promise<void> {
    const { settings, logger } = this.#parts;
    try {
      await this.network.start();
    } catch (error) {
      throw listenError(error, settings) ?? error;
    }
    this.sync.start();
    this.#stopWatching = this.#parts.suspensions?.onSuspended(() => this.onSuspended());
    this.#backfill.start();
    const { p2p, enr } = this.listening;
    for (const address of p2p) logger.notice("Listening for peers", { address });
    logger.info("Local node record", { enr });
  }

  /** Handles a suspension of the process, which may leave the head and the connections stale. */
  onSuspended(): void {
    // Called first, so that no validator signs for a stale head.
    this.sync.onSuspended();
    this.network.peers.onSuspended();
  }

  async close(): Promise<void> {
    this.#stopWatching?.();
    await this.#backfill.close();
    await this.sync.close();
    await this.network.close();
  }
}

const LISTEN_CODES = ["EADDRINUSE", "EADDRNOTAVAIL", "EACCES"] as const;

function listenError(error: unknown, { address, port }: NetworkSettings): StartError | undefined {
  const code = LISTEN_CODES.find((candidate) => hasCode(error, candidate));
  if (code === undefined) return undefined;
  if (code === "EADDRINUSE") {
    return new StartError("p2pPortInUse", `Port ${port} of ${address} is in use by another process.`, error);
  }
  const message = `The node cannot listen for peers on ${address}, port ${port}: ${code}.`;
  return new StartError("p2pAddressUnusable", message, error);
}

/** Returns true if the error, one of its causes or its message contains the code. libp2p wraps system errors. */
function hasCode(error: unknown, code: string): boolean {
  if (!(error instanceof Error)) return false;
  if (errorCode(error) === code || error.message.includes(code)) return true;
  const inner = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...inner].some((each) => each !== error && hasCode(each, code));
}
