import type { BeaconChain } from "../chain/chain.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Logger } from "../log/logger.ts";
import { clientVersion } from "../runtime/version.ts";
import { Discovery } from "./discovery/discovery.ts";
import type { UnknownBlocks } from "./gossip/block-handler.ts";
import { Gossip } from "./gossip/gossip.ts";
import { asPubsub, createPubsub } from "./gossip/pubsub.ts";
import { GossipView } from "./gossip-view.ts";
import { createHost, type Host } from "./libp2p/host.ts";
import type { LocalNode } from "./local-node.ts";
import type { ListeningAddresses, NetworkSettings } from "./network-settings.ts";
import type { NetworkView } from "./network-view.ts";
import { openNodeKey } from "./node-key.ts";
import { PeerBans } from "./peers/peer-bans.ts";
import { PeerManager } from "./peers/peer-manager.ts";
import { maxPeers } from "./peers/peer-pruner.ts";
import { PeerScores } from "./peers/peer-scores.ts";
import { PeerStore } from "./peers/peer-store.ts";
import { PeersView } from "./peers-view.ts";
import { ChainRequestHandlers } from "./reqresp/chain-request-handlers.ts";
import type { ReqRespLimits } from "./reqresp/limits.ts";
import { ReqResp } from "./reqresp/reqresp.ts";
import { SubnetManager } from "./subnets/subnet-manager.ts";

export interface NetworkParts {
  chain: BeaconChain;
  db: BeaconDb;
  node: LocalNode;
  settings: NetworkSettings;
  unknownBlocks: UnknownBlocks;
  logger: Logger;
  /** Returns false for peers to be blocked regardless of their score. By default all are allowed. */
  allowPeer?: (peerId: string) => boolean;
  /** Gossip heartbeat interval. Defaults to the specification's value. */
  heartbeatMs?: number;
  /** Overrides for the default request limits. */
  requestLimits?: Partial<ReqRespLimits>;
}

/** Room for pending connections on top of the peer limit. */
const SPARE_CONNECTIONS = 10;

/** Composes the libp2p host with gossip, requests, peer management and discovery. */
export class Network {
  readonly host: Host;
  readonly gossip: Gossip;
  readonly peers: PeerManager;
  readonly view: NetworkView;
  readonly #node: LocalNode;
  readonly #settings: NetworkSettings;
  readonly #reqresp: ReqResp;
  readonly #subnets: SubnetManager;
  readonly #discovery: Discovery | undefined;
  #listening: ListeningAddresses = { p2p: [], enr: "" };
  #starting: Promise<void> = Promise.resolve();

  static async open(parts: NetworkParts): Promise<Network> {
    const { chain, db, node, settings, logger, allowPeer, heartbeatMs, requestLimits: limits } = parts;
    const { config, clock } = chain;
    const key = await openNodeKey(db);
    const scores = new PeerScores();
    const bans = new PeerBans();
    const store = await PeerStore.open(db, logger);
    bans.restore(store.bans, scores);
    const host = await createHost({
      key,
      listen: settings,
      agentVersion: clientVersion(),
      maxConnections: maxPeers(settings.targetPeers) + settings.directPeers.length + SPARE_CONNECTIONS,
      allowPeer: (peerId) => scores.allows(peerId) && allowPeer?.(peerId) !== false,
      allowAddress: (ip) => bans.allowsAddress(ip),
      pubsub: createPubsub({
        config,
        heartbeatInterval: heartbeatMs,
        activeValidators: chain.headState.epochCtx.currentShuffling.activeIndices.length,
        appSpecificScore: (peerId) => scores.score(peerId),
        reporter: scores,
      }),
    });
    const handlers = new ChainRequestHandlers({
      chain,
      db,
      node,
      onStatus: (peerId, status) => peers.onStatus(peerId, status),
      onPing: (peerId, metadataSeq) => peers.onPing(peerId, metadataSeq),
      onGoodbye: (peerId, reason) => peers.onGoodbye(peerId, reason),
    });
    const reqresp = new ReqResp({ host, config, clock, handlers, reporter: scores, logger, limits });
    const gossip = new Gossip({ ...parts, pubsub: host.services.pubsub, reporter: scores });
    const subnets = new SubnetManager({ chain, node, nodeId: await node.nodeId(), topics: gossip });
    const { bootnodes, readBootnodes } = settings;
    const storedEnrs = store.peers.flatMap(({ enr }) => enr ?? []);
    const discovery = settings.discovery
      ? new Discovery({ key, node, bind: settings, bootnodes, readBootnodes, storedEnrs, config, clock, logger })
      : undefined;
    const peers = new PeerManager({
      host,
      requests: reqresp.requests,
      chain,
      discovery,
      subnets,
      options: settings,
      logger,
      scores,
      bans,
      store,
    });
    return new Network({ host, gossip, peers, reqresp, subnets, discovery, node, settings });
  }

  private constructor(parts: {
    host: Host;
    gossip: Gossip;
    peers: PeerManager;
    reqresp: ReqResp;
    subnets: SubnetManager;
    discovery: Discovery | undefined;
    node: LocalNode;
    settings: NetworkSettings;
  }) {
    const { host, gossip, peers, node } = parts;
    this.host = host;
    this.gossip = gossip;
    this.peers = peers;
    this.#node = node;
    this.#settings = parts.settings;
    this.#reqresp = parts.reqresp;
    this.#subnets = parts.subnets;
    this.#discovery = parts.discovery;
    const peersView = new PeersView(peers);
    const gossipView = new GossipView({ gossip: asPubsub(host.services.pubsub), known: peers.known });
    this.view = {
      identity: () => node.identity(),
      peers: () => peersView.peers(),
      peer: (peerId) => peersView.peer(peerId),
      peerCounts: () => peersView.peerCounts(),
      gossipPeers: () => gossipView.gossipPeers(),
    };
  }

  get listening(): ListeningAddresses {
    return this.#listening;
  }

  /** Starts listening and looking for peers. */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async close(): Promise<void> {
    // Parts that a failed start did not reach are closed as well.
    await this.#starting.catch(() => {});
    await this.peers.close();
    this.#subnets.close();
    await this.gossip.close();
    await this.#discovery?.close();
    await this.#reqresp.close();
    await this.host.stop();
  }

  async #start(): Promise<void> {
    await this.host.start();
    await this.#reqresp.start();
    this.gossip.start();
    // Started before the ENR is published, since the ENR contains the subnets.
    this.#subnets.start();
    // Contains the UDP port if it is fixed, so that a restarted node keeps its ENR.
    await this.#announceAddresses(this.#discovery && this.#settings.port > 0 ? this.#settings.port : undefined);
    await this.#announceAddresses(await this.#discovery?.start());
    this.peers.start();
  }

  async #announceAddresses(udp: number | undefined): Promise<void> {
    const { address: ip } = this.#settings;
    const listening = this.host.getMultiaddrs().map((address) => address.toString());
    const tcp = Number(listening[0]?.match(/\/tcp\/(\d+)/)?.[1]);
    const discovery = udp === undefined ? [] : listening.map((address) => address.replace(/\/tcp\/\d+/, `/udp/${udp}`));
    this.#node.setAddresses({ ip, tcp, udp, p2pAddresses: listening, discoveryAddresses: discovery });
    this.#listening = { p2p: listening, enr: await this.#node.enrText() };
  }
}
