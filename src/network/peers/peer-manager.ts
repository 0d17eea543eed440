import type { Connection, IdentifyResult } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import type { fulu, SignedBeaconBlock } from "@lodestar/types";
import { multiaddr } from "@multiformats/multiaddr";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { ipOf } from "../address-scope.ts";
import { asPubsub } from "../gossip/pubsub.ts";
import { type Host, subscribeToHost } from "../libp2p/host.ts";
import type { BeaconRequests, BlockAncestry } from "../reqresp/interface.ts";
import { protocolId } from "../reqresp/protocols.ts";
import { Connector, type PeerSource } from "./connector.ts";
import { DirectPeers } from "./direct-peers.ts";
import { Disconnector, dialDelayAfter, GOODBYE, goodbyeText } from "./goodbye.ts";
import { GossipPenalties } from "./gossip-penalties.ts";
import { addAddress, applyIdentify, identifiedAddresses, KnownPeers, withPeerId } from "./known-peers.ts";
import type { PeerBans } from "./peer-bans.ts";
import { PeerConnections } from "./peer-connections.ts";
import { PeerCustody } from "./peer-custody.ts";
import { Pruner } from "./peer-pruner.ts";
import type { PeerScores, Severity } from "./peer-scores.ts";
import { PeerSessions, type PeerSessionsChain } from "./peer-sessions.ts";
import type { PeerStore } from "./peer-store.ts";
import type { SubnetNeeds } from "./subnet-coverage.ts";
import type { SyncPeer, SyncPeers } from "./sync-peers.ts";

const TICK_MS = 1_000;
/** Interval at which known peers and bans are stored. */
const STORE_INTERVAL_MS = 60_000;
/** Minimum duration of a connection that counts as good. */
const GOOD_CONNECTION_MS = 10_000;
/** A goodbye that arrives on an older connection within this time after a suspension was sent during the suspension. */
const BACKLOG_MS = 10_000;
/** A peer is not stored if a goodbye has one of these reasons. */
const UNWANTED_REASONS: ReadonlySet<bigint> = new Set([GOODBYE.irrelevantNetwork, GOODBYE.badScore, GOODBYE.banned]);

const BLOCKS_BY_HEAD = protocolId({ name: "beacon_blocks_by_head", version: 1 });

interface PeerManagerParts {
  host: Host;
  requests: BeaconRequests;
  chain: PeerSessionsChain;
  /** Undefined if discovery is disabled. */
  discovery: PeerSource | undefined;
  subnets: SubnetNeeds;
  options: { targetPeers: number; directPeers: readonly string[] };
  logger: Logger;
  /** Shared with other reporters and with the host's connection gater. */
  scores: PeerScores;
  /** Shared with the host's connection gater. */
  bans: PeerBans;
  store: Pick<PeerStore, "restore" | "save">;
  timers?: Pick<Timers, "now" | "unixNow" | "every" | "sleep">;
}

/**
 * Maintains the connections to peers: dials, handshakes, scoring, pruning and bans. Sends requests on behalf of the
 * sync.
 */
export class PeerManager implements SyncPeers {
  readonly known: KnownPeers;
  readonly scores: PeerScores;
  readonly requests: BeaconRequests;

  readonly #host: Host;
  readonly #bans: PeerBans;
  readonly #store: PeerManagerParts["store"];
  readonly #timers: Pick<Timers, "now" | "unixNow" | "every">;
  readonly #discovery: PeerSource | undefined;
  readonly #direct: DirectPeers;
  readonly #custody: PeerCustody;
  readonly #sessions: PeerSessions;
  readonly #connector: Connector;
  readonly #pruner: Pruner;
  readonly #disconnector: Disconnector;
  readonly #gossipPenalties: GossipPenalties;
  readonly #connections: PeerConnections;
  readonly #logger: Logger;
  readonly #listeners = new Set<() => void>();
  #unsubscribes: (() => void)[] = [];
  #relevantPeers = 0;
  #resumedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PeerManagerParts) {
    const { host, requests, chain, discovery, subnets, options, scores, timers = SYSTEM_TIMERS } = parts;
    this.#host = host;
    this.requests = requests;
    this.#bans = parts.bans;
    this.#store = parts.store;
    this.#timers = timers;
    this.#discovery = discovery;
    this.#logger = parts.logger.topic("peers");
    this.scores = scores;
    this.known = new KnownPeers({ forgotten: (id) => this.#onForgotten(id) });
    this.#store.restore(this.known);
    this.#custody = new PeerCustody(chain.config);
    this.#direct = new DirectPeers(options.directPeers);
    this.#disconnector = new Disconnector({ host, requests });
    const gossip = asPubsub(host.services.pubsub);
    this.#gossipPenalties = new GossipPenalties({ gossip, reporter: this.scores });
    this.#connections = new PeerConnections({ host, gossip, timers });
    this.#sessions = new PeerSessions({
      requests,
      chain,
      known: this.known,
      timers,
      logger: this.#logger,
      changed: () => this.#onChanged(),
      drop: (peerId, reason, why) => this.#drop(peerId, reason, why),
    });
    const shared = {
      known: this.known,
      scores: this.scores,
      direct: this.#direct,
      subnets,
      custody: this.#custody,
      sessions: this.#sessions,
      targetPeers: options.targetPeers,
    };
    this.#pruner = new Pruner(shared);
    this.#connector = new Connector({ ...shared, host, discovery, timers, logger: this.#logger });
  }

  /** Starts the peer manager. The host must have been started. */
  start(): void {
    for (const { target, peerId } of this.#direct.targets()) {
      if (peerId === undefined || peerId === this.#host.peerId.toString()) continue;
      this.known.keep(peerId);
      const peer = this.known.touch(peerId);
      for (const address of target.addresses) addAddress(peer, address);
    }
    this.#listen();
    for (const connection of this.#host.getConnections()) this.#onOpen(connection);
    this.#tick();
  }

  /** Says goodbye to all peers. The host's owner stops the host. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    await this.#connector.close();
    await this.#save();
    const peers = [...this.#sessions.values()];
    for (const { peerId } of peers) void this.#disconnector.disconnect(peerId, GOODBYE.shutdown);
    await this.#disconnector.idle();
    for (const { peerId } of peers) this.#onDisconnect(peerId);
  }

  onStatus(peerId: string, status: fulu.Status): void {
    this.#sessions.onStatus(peerId, status).catch((error: unknown) => {
      this.#logger.warn("Could not check peer status", { peer: peerId, error: String(error) });
    });
  }

  onPing(peerId: string, metadataSeq: bigint): void {
    this.#sessions.onPing(peerId, metadataSeq);
  }

  onGoodbye(peerId: string, reason: bigint): void {
    this.#logger.debug("Received goodbye", { peer: peerId, reason: goodbyeText(reason) });
    if (!this.#isFromSuspension(peerId, reason)) this.#deferDials(peerId, reason);
    this.#disconnect(peerId);
  }

  /** Called after the process was suspended. Aborts dead connections and starts dialing at once. */
  onSuspended(): void {
    this.#resumedAt = this.#timers.now();
    void this.#connections.abortDead();
    this.#connector.redial();
  }

  list(): SyncPeer[] {
    const relevant = [...this.#sessions.values()].filter((session) => session.relevant);
    return relevant.flatMap(({ peerId }) => {
      const peer = this.known.get(peerId);
      return peer?.status && peer.state === "connected"
        ? { peerId, status: peer.status, score: this.scores.score(peerId), columns: this.#custody.columnsOf(peer) }
        : [];
    });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  refreshStatus(peerId: string): void {
    this.#sessions.refreshStatus(peerId);
  }

  blockWithAncestors(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const supportsBlocksByHead = this.known.get(peerId)?.protocols.includes(BLOCKS_BY_HEAD);
    return supportsBlocksByHead && ancestry.count > 1
      ? this.requests.blocksByHead(peerId, ancestry, signal)
      : this.requests.blocksByRoot(peerId, [ancestry.root], signal);
  }

  penalize(peerId: string, severity: Severity, reason: string): void {
    this.scores.penalize(peerId, severity, reason);
  }

  #listen(): void {
    this.#unsubscribes = [
      subscribeToHost(this.#host, {
        opened: (connection) => this.#safely(() => this.#onOpen(connection)),
        closed: (connection) => this.#safely(() => this.#onClose(connection)),
        disconnected: (peerId) => this.#safely(() => this.#onDisconnect(peerId)),
        identified: (result) => this.#safely(() => this.#onIdentify(result)),
      }),
      this.#timers.every(TICK_MS, () => this.#safely(() => this.#tick())),
      this.#timers.every(STORE_INTERVAL_MS, () => void this.#save()),
      this.scores.onDemotion((peerId, standing, reason) => {
        if (standing === "banned") this.#ban(peerId);
        this.#drop(peerId, standing === "banned" ? GOODBYE.banned : GOODBYE.badScore, reason);
      }),
    ];
    if (this.#discovery)
      this.#unsubscribes.push(this.#discovery.onDiscovered((peer) => this.#connector.onDiscovered(peer)));
  }

  /** Runs a listener, whose failure must not terminate the process. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#logger.error("Peer management failed", { error });
    }
  }

  #tick(): void {
    this.#sweep();
    this.#connections.tick();
    for (const { peerId } of [...this.#sessions.values()]) this.#gossipPenalties.onTick(peerId);
    this.#sessions.tick();
    for (const peerId of this.#pruner.excessPeers()) this.#drop(peerId, GOODBYE.tooManyPeers, "too many peers");
    this.#connector.tick();
  }

  /** Handles disconnects that the host's events have missed. */
  #sweep(): void {
    const connected = new Set(this.#host.getConnections().map(({ remotePeer }) => remotePeer.toString()));
    for (const { peerId } of [...this.#sessions.values()]) {
      const isLeft = this.known.get(peerId)?.state === "disconnecting" && !this.#disconnector.isDisconnecting(peerId);
      if (!connected.has(peerId)) this.#onDisconnect(peerId);
      else if (isLeft) void this.#disconnector.disconnect(peerId);
    }
  }

  /** Stores the known peers and the bans. Peers that are currently relevant are stored as good. */
  async #save(): Promise<void> {
    for (const { peerId } of this.list()) this.#markGood(peerId);
    try {
      await this.#store.save(this.known, this.#bans.list());
    } catch (error) {
      this.#logger.warn("Could not store peers", { error });
    }
  }

  #ban(peerId: string): void {
    const address = this.known.get(peerId)?.lastSeenAddress;
    const ip = address ? ipOf(multiaddr(address)) : undefined;
    this.#bans.add(peerId, ip);
    if (ip !== undefined && !this.#bans.allowsAddress(ip)) this.#logger.info("Address banned", { address: ip });
  }

  #markGood(peerId: string): void {
    const peer = this.known.get(peerId);
    if (peer) peer.lastGoodAt = this.#timers.unixNow();
  }

  #onOpen(connection: Connection): void {
    const { remotePeer, direction, status } = connection;
    if (remotePeer.equals(this.#host.peerId)) {
      connection.abort(new Error("The connection leads to this node itself."));
      return;
    }
    if (status !== "open" || !this.#connections.admits(connection)) return;
    const isConnected = this.known.get(remotePeer.toString())?.state === "connected";
    if (!isConnected || direction === "outbound") this.#useConnection(connection);
  }

  #onClose(connection: Connection): void {
    const remaining = this.#connections.remainingAfter(connection);
    if (remaining && this.known.get(remaining.remotePeer.toString())?.state === "connected")
      this.#useConnection(remaining);
  }

  /** Makes this connection the peer's current one. */
  #useConnection({ remotePeer, remoteAddr, direction }: Connection): void {
    const peerId = remotePeer.toString();
    const peer = this.known.touch(peerId);
    peer.state = "connected";
    peer.direction = direction;
    peer.lastSeenAddress = withPeerId(remoteAddr.toString(), peerId);
    if (direction === "outbound") addAddress(peer, peer.lastSeenAddress);
    if (!this.#sessions.get(peerId))
      this.#logger.debug("Peer connected", { peer: peerId, direction, address: peer.lastSeenAddress });
    this.#sessions.begin(peerId, direction);
  }

  #onDisconnect(peerId: string): void {
    const peer = this.known.get(peerId);
    const isDropped = peer?.state === "disconnecting";
    if (peer) peer.state = "disconnected";
    const session = this.#sessions.end(peerId);
    if (!session) return;
    this.#logger.debug("Peer disconnected", { peer: peerId });
    this.#gossipPenalties.onDisconnect(peerId);
    const isGood = session.relevant && this.#timers.now() - session.since >= GOOD_CONNECTION_MS;
    if (isGood && !isDropped) this.#markGood(peerId);
    this.#connector.onDisconnect(peerId, isGood);
  }

  #onIdentify(result: IdentifyResult): void {
    const peerId = result.peerId.toString();
    const peer = this.known.get(peerId);
    if (!peer) return;
    applyIdentify(peer, result);
    for (const address of identifiedAddresses(result)) addAddress(peer, address);
  }

  #onForgotten(peerId: string): void {
    this.#host.peerStore.delete(peerIdFromString(peerId)).catch((error: unknown) => {
      this.#logger.debug("Could not remove peer", { peer: peerId, error: String(error) });
    });
  }

  #onChanged(): void {
    const before = this.#relevantPeers;
    this.#relevantPeers = this.list().length;
    if (before === 0 && this.#relevantPeers > 0) this.#logger.info("Peers found", { peers: this.#relevantPeers });
    if (before > 0 && this.#relevantPeers === 0) this.#logger.info("No peers left", { peers: 0 });
    for (const listener of this.#listeners) this.#safely(listener);
  }

  #drop(peerId: string, reason: bigint, why: string): void {
    this.#logger.debug("Disconnecting peer", { peer: peerId, reason: goodbyeText(reason), detail: why });
    const peer = this.known.get(peerId);
    if (peer && UNWANTED_REASONS.has(reason)) peer.lastGoodAt = null;
    this.#deferDials(peerId, reason);
    this.#disconnect(peerId, reason);
  }

  #deferDials(peerId: string, reason: bigint): void {
    const wasRelevant = this.#sessions.get(peerId)?.relevant === true;
    this.#connector.deferDials(peerId, dialDelayAfter(reason, wasRelevant));
  }

  /**
   * Returns true for a goodbye that was sent while this node was suspended. The sender of such a goodbye accepts a new
   * connection.
   */
  #isFromSuspension(peerId: string, reason: bigint): boolean {
    const session = this.#sessions.get(peerId);
    if (session === undefined || session.since > this.#resumedAt || UNWANTED_REASONS.has(reason)) return false;
    return this.#timers.now() - this.#resumedAt < BACKLOG_MS;
  }

  #disconnect(peerId: string, reason?: bigint): void {
    const peer = this.known.get(peerId);
    if (peer?.state !== "connected") return;
    peer.state = "disconnecting";
    void this.#disconnector.disconnect(peerId, reason);
    if (this.#sessions.get(peerId)?.relevant) this.#onChanged();
  }
}
