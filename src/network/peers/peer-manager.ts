import type { Connection, IdentifyResult } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import type { deneb, fulu, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { multiaddr } from "@multiformats/multiaddr";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { ipOf } from "../address-scope.ts";
import { asPubsub } from "../gossip/pubsub.ts";
import { followHost, type Host } from "../libp2p/host.ts";
import type { BeaconRequests, BlockAncestry, BlockRange, SidecarsOfBlock } from "../reqresp/interface.ts";
import { protocolId } from "../reqresp/protocols.ts";
import { Connector, type PeerSource } from "./connector.ts";
import { DirectPeers } from "./direct-peers.ts";
import { Disconnector, GOODBYE, goodbyeText, silenceAfter } from "./goodbye.ts";
import { GossipPenalties } from "./gossip-penalties.ts";
import { addAddress, identifiedAddresses, introduce, KnownPeers, withPeerId } from "./known-peers.ts";
import type { PeerBans } from "./peer-bans.ts";
import { PeerConnections } from "./peer-connections.ts";
import { PeerCustody } from "./peer-custody.ts";
import type { PeerMemory } from "./peer-memory.ts";
import type { PeerScores, Severity } from "./peer-scores.ts";
import { PeerSessions, type PeerSessionsChain } from "./peer-sessions.ts";
import { Pruner } from "./pruning.ts";
import type { SubnetNeeds } from "./subnet-coverage.ts";
import type { SyncPeer, SyncPeers } from "./sync-peers.ts";

const TICK_MS = 1_000;
/** What is remembered may be this old when the process dies. */
const REMEMBER_MS = 60_000;
/** A connection that lasted this long counts as good. */
const GOOD_CONNECTION_MS = 10_000;
/** A goodbye that arrives this soon after a suspension, over a connection from before, was said during it. */
const BACKLOG_MS = 10_000;
/** Whoever is sent away for these is not worth being remembered. */
const NOT_GOOD: ReadonlySet<bigint> = new Set([GOODBYE.irrelevantNetwork, GOODBYE.badScore, GOODBYE.banned]);

const BLOCKS_BY_HEAD = protocolId({ name: "beacon_blocks_by_head", version: 1 });

interface PeerManagerParts {
  host: Host;
  requests: BeaconRequests;
  chain: PeerSessionsChain;
  /** Undefined when nobody is searched for. */
  discovery: PeerSource | undefined;
  subnets: SubnetNeeds;
  options: { targetPeers: number; directPeers: readonly string[] };
  logger: Logger;
  /** Shared with whoever else scores peers, and with the gate of the host. */
  scores: PeerScores;
  /** Shared with the gate of the host. */
  bans: PeerBans;
  memory: Pick<PeerMemory, "recall" | "store">;
  timers?: Pick<Timers, "now" | "unixNow" | "every" | "sleep">;
}

/** Knows the peers of this node: finds and keeps good ones, and sends away the others. */
export class PeerManager implements SyncPeers {
  readonly known: KnownPeers;
  readonly scores: PeerScores;

  readonly #host: Host;
  readonly #requests: BeaconRequests;
  readonly #bans: PeerBans;
  readonly #memory: PeerManagerParts["memory"];
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
  #ends: (() => void)[] = [];
  #relevantPeers = 0;
  #resumedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PeerManagerParts) {
    const { host, requests, chain, discovery, subnets, options, scores, timers = SYSTEM_TIMERS } = parts;
    this.#host = host;
    this.#requests = requests;
    this.#bans = parts.bans;
    this.#memory = parts.memory;
    this.#timers = timers;
    this.#discovery = discovery;
    this.#logger = parts.logger.topic("peers");
    this.scores = scores;
    this.known = new KnownPeers({ forgotten: (id) => this.#onForgotten(id) });
    this.#memory.recall(this.known);
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

  /** The host has been started. */
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

  /** Says goodbye to all. The host stays; its owner stops it. */
  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await this.#connector.close();
    await this.#remember();
    const peers = [...this.#sessions.values()];
    for (const { peerId } of peers) void this.#disconnector.disconnect(peerId, GOODBYE.shutdown);
    await this.#disconnector.idle();
    for (const { peerId } of peers) this.#onDisconnect(peerId);
  }

  onStatus(peerId: string, status: fulu.Status): void {
    this.#sessions.onStatus(peerId, status).catch((error: unknown) => {
      this.#logger.warn("The status of a peer could not be checked", { peer: peerId, error: String(error) });
    });
  }

  onPing(peerId: string, metadataSeq: bigint): void {
    this.#sessions.onPing(peerId, metadataSeq);
  }

  onGoodbye(peerId: string, reason: bigint): void {
    this.#logger.debug("A peer says goodbye", { peer: peerId, reason: goodbyeText(reason) });
    if (!this.#isFromSuspension(peerId, reason)) this.#leaveAlone(peerId, reason);
    this.#disconnect(peerId);
  }

  /** The node was suspended: drops the connections that did not survive it, and dials at once. */
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

  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    return this.#requests.blocksByRange(peerId, range, signal);
  }

  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    return this.#requests.blocksByRoot(peerId, roots, signal);
  }

  blockWithAncestors(peerId: string, ancestry: BlockAncestry, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const givesAncestors = this.known.get(peerId)?.protocols.includes(BLOCKS_BY_HEAD);
    return givesAncestors && ancestry.count > 1
      ? this.#requests.blocksByHead(peerId, ancestry, signal)
      : this.#requests.blocksByRoot(peerId, [ancestry.root], signal);
  }

  blobSidecarsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
    onSidecar?: (sidecar: deneb.BlobSidecar) => void,
  ): Promise<deneb.BlobSidecar[]> {
    return this.#requests.blobSidecarsByRange(peerId, range, signal, onSidecar);
  }

  blobSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarsOfBlock[],
    signal?: AbortSignal,
  ): Promise<deneb.BlobSidecar[]> {
    return this.#requests.blobSidecarsByRoot(peerId, wanted, signal);
  }

  columnSidecarsByRange(
    peerId: string,
    range: BlockRange,
    columns: readonly number[],
    signal?: AbortSignal,
    onSidecar?: (sidecar: fulu.DataColumnSidecar) => void,
  ): Promise<fulu.DataColumnSidecar[]> {
    return this.#requests.columnSidecarsByRange(peerId, range, columns, signal, onSidecar);
  }

  columnSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarsOfBlock[],
    signal?: AbortSignal,
  ): Promise<fulu.DataColumnSidecar[]> {
    return this.#requests.columnSidecarsByRoot(peerId, wanted, signal);
  }

  penalize(peerId: string, severity: Severity, reason: string): void {
    this.scores.penalize(peerId, severity, reason);
  }

  #listen(): void {
    this.#ends = [
      followHost(this.#host, {
        opened: (connection) => this.#safely(() => this.#onOpen(connection)),
        closed: (connection) => this.#safely(() => this.#onClose(connection)),
        disconnected: (peerId) => this.#safely(() => this.#onDisconnect(peerId)),
        identified: (result) => this.#safely(() => this.#onIdentify(result)),
      }),
      this.#timers.every(TICK_MS, () => this.#safely(() => this.#tick())),
      this.#timers.every(REMEMBER_MS, () => void this.#remember()),
      this.scores.onFall((peerId, standing, reason) => {
        if (standing === "banned") this.#ban(peerId);
        this.#drop(peerId, standing === "banned" ? GOODBYE.banned : GOODBYE.badScore, reason);
      }),
    ];
    if (this.#discovery) this.#ends.push(this.#discovery.onFound((found) => this.#connector.onFound(found)));
  }

  /** Nothing that happens to a connection may end the program. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#logger.error("The peers could not be looked after", { error });
    }
  }

  #tick(): void {
    this.#sweep();
    this.#connections.tick();
    for (const { peerId } of [...this.#sessions.values()]) this.#gossipPenalties.onTick(peerId);
    this.#sessions.tick();
    for (const peerId of this.#pruner.tooMany()) this.#drop(peerId, GOODBYE.tooManyPeers, "too many peers");
    this.#connector.tick();
  }

  /** Whatever the events of the host left out. */
  #sweep(): void {
    const connected = new Set(this.#host.getConnections().map(({ remotePeer }) => remotePeer.toString()));
    for (const { peerId } of [...this.#sessions.values()]) {
      const isLeft = this.known.get(peerId)?.state === "disconnecting" && !this.#disconnector.isDisconnecting(peerId);
      if (!connected.has(peerId)) this.#onDisconnect(peerId);
      else if (isLeft) void this.#disconnector.disconnect(peerId);
    }
  }

  /** Whoever is a peer of our chain now is good now. */
  async #remember(): Promise<void> {
    for (const { peerId } of this.list()) this.#noteGood(peerId);
    try {
      await this.#memory.store(this.known, this.#bans.list());
    } catch (error) {
      this.#logger.warn("The peers could not be remembered", { error });
    }
  }

  #ban(peerId: string): void {
    const address = this.known.get(peerId)?.lastSeenAddress;
    const ip = address ? ipOf(multiaddr(address)) : undefined;
    this.#bans.add(peerId, ip);
    if (ip !== undefined && !this.#bans.allowsAddress(ip)) this.#logger.info("Address banned", { address: ip });
  }

  #noteGood(peerId: string): void {
    const peer = this.known.get(peerId);
    if (peer) peer.lastGoodAt = this.#timers.unixNow();
  }

  #onOpen(connection: Connection): void {
    const { remotePeer, direction, status } = connection;
    if (remotePeer.equals(this.#host.peerId)) {
      connection.abort(new Error("The node does not speak to itself."));
      return;
    }
    if (status !== "open" || !this.#connections.admits(connection)) return;
    const isConnected = this.known.get(remotePeer.toString())?.state === "connected";
    if (!isConnected || direction === "outbound") this.#speakOver(connection);
  }

  #onClose(connection: Connection): void {
    const left = this.#connections.leftAfter(connection);
    if (left && this.known.get(left.remotePeer.toString())?.state === "connected") this.#speakOver(left);
  }

  /** This is the connection with the peer from now on. */
  #speakOver({ remotePeer, remoteAddr, direction }: Connection): void {
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
    const isSentAway = peer?.state === "disconnecting";
    if (peer) peer.state = "disconnected";
    const session = this.#sessions.end(peerId);
    if (!session) return;
    this.#logger.debug("Peer disconnected", { peer: peerId });
    this.#gossipPenalties.onDisconnect(peerId);
    const isGood = session.relevant && this.#timers.now() - session.since >= GOOD_CONNECTION_MS;
    if (isGood && !isSentAway) this.#noteGood(peerId);
    this.#connector.onEnd(peerId, isGood);
  }

  #onIdentify(result: IdentifyResult): void {
    const peerId = result.peerId.toString();
    const peer = this.known.get(peerId);
    if (!peer) return;
    introduce(peer, result);
    for (const address of identifiedAddresses(result)) addAddress(peer, address);
  }

  #onForgotten(peerId: string): void {
    this.#host.peerStore.delete(peerIdFromString(peerId)).catch((error: unknown) => {
      this.#logger.debug("A peer could not be forgotten", { peer: peerId, error: String(error) });
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
    this.#logger.debug("A peer is sent away", { peer: peerId, reason: goodbyeText(reason), why });
    const peer = this.known.get(peerId);
    if (peer && NOT_GOOD.has(reason)) peer.lastGoodAt = null;
    this.#leaveAlone(peerId, reason);
    this.#disconnect(peerId, reason);
  }

  #leaveAlone(peerId: string, reason: bigint): void {
    const wasRelevant = this.#sessions.get(peerId)?.relevant === true;
    this.#connector.leaveAlone(peerId, silenceAfter(reason, wasRelevant));
  }

  /** Peers that gave this node up while it was suspended take it back. */
  #isFromSuspension(peerId: string, reason: bigint): boolean {
    const session = this.#sessions.get(peerId);
    if (session === undefined || session.since > this.#resumedAt || NOT_GOOD.has(reason)) return false;
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
