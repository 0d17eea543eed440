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
import type { NetworkView } from "./network-view.ts";
import type { ListeningAddresses, NetworkingOptions } from "./networking-options.ts";
import { openNodeKey } from "./node-key.ts";
import { PeerBans } from "./peers/peer-bans.ts";
import { PeerManager } from "./peers/peer-manager.ts";
import { PeerMemory } from "./peers/peer-memory.ts";
import { PeerScores } from "./peers/peer-scores.ts";
import { maxPeers } from "./peers/pruning.ts";
import { PeersView } from "./peers-view.ts";
import { ChainRequestHandlers } from "./reqresp/chain-request-handlers.ts";
import type { ReqRespLimits } from "./reqresp/limits.ts";
import { ReqResp } from "./reqresp/reqresp.ts";
import { SubnetManager } from "./subnets/subnet-manager.ts";

export interface NetworkParts {
  chain: BeaconChain;
  db: BeaconDb;
  node: LocalNode;
  options: NetworkingOptions;
  unknownBlocks: UnknownBlocks;
  logger: Logger;
  /** Whether this node speaks to the peer at all, whatever it has done; to all when left out. */
  allowPeer?: (peerId: string) => boolean;
  /** Of gossip; the specification's value by default. */
  heartbeatMs?: number;
  /** Of requests; those that differ from the defaults. */
  requestLimits?: Partial<ReqRespLimits>;
}

/** Connections that are on their way in or out, beside those of the peers that are kept. */
const SPARE_CONNECTIONS = 10;

/** This node among others: the host with everything that is spoken over it. */
export class Network {
  readonly host: Host;
  readonly gossip: Gossip;
  readonly peers: PeerManager;
  readonly view: NetworkView;
  readonly #node: LocalNode;
  readonly #options: NetworkingOptions;
  readonly #requests: ReqResp;
  readonly #subnets: SubnetManager;
  readonly #discovery: Discovery | undefined;
  #listening: ListeningAddresses = { p2p: [], enr: "" };
  #starting: Promise<void> = Promise.resolve();

  static async open(parts: NetworkParts): Promise<Network> {
    const { chain, db, node, options, logger, allowPeer, heartbeatMs, requestLimits: limits } = parts;
    const { config, clock } = chain;
    const key = await openNodeKey(db);
    const scores = new PeerScores();
    const bans = new PeerBans();
    const memory = await PeerMemory.open(db, logger);
    bans.restore(memory.bans, scores);
    const host = await createHost({
      key,
      listen: options,
      agentVersion: clientVersion(),
      maxConnections: maxPeers(options.targetPeers) + options.directPeers.length + SPARE_CONNECTIONS,
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
    const requests = new ReqResp({ host, config, clock, handlers, reporter: scores, logger, limits });
    const gossip = new Gossip({ ...parts, pubsub: host.services.pubsub, reporter: scores });
    const subnets = new SubnetManager({ chain, node, nodeId: await node.nodeId(), topics: gossip });
    const { bootnodes, readBootnodes } = options;
    const formerRecords = memory.remembered.flatMap(({ enr }) => enr ?? []);
    const discovery = options.discovery
      ? new Discovery({ key, node, bind: options, bootnodes, readBootnodes, formerRecords, config, clock, logger })
      : undefined;
    const peers = new PeerManager({ host, requests, chain, discovery, subnets, options, logger, scores, bans, memory });
    return new Network({ host, gossip, peers, requests, subnets, discovery, node, options });
  }

  private constructor(parts: {
    host: Host;
    gossip: Gossip;
    peers: PeerManager;
    requests: ReqResp;
    subnets: SubnetManager;
    discovery: Discovery | undefined;
    node: LocalNode;
    options: NetworkingOptions;
  }) {
    const { host, gossip, peers, node } = parts;
    this.host = host;
    this.gossip = gossip;
    this.peers = peers;
    this.#node = node;
    this.#options = parts.options;
    this.#requests = parts.requests;
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

  /** Listens, and looks for peers. */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async close(): Promise<void> {
    // What was not reached by a start that failed is none the worse for being closed.
    await this.#starting.catch(() => {});
    await this.peers.close();
    this.#subnets.close();
    await this.gossip.close();
    await this.#discovery?.close();
    await this.#requests.close();
    await this.host.stop();
  }

  async #start(): Promise<void> {
    await this.host.start();
    await this.#requests.start();
    this.gossip.start();
    // The record names the subnets, so they are known before anybody is told of it.
    this.#subnets.start();
    // Also that of discovery, as far as it is known: a node that comes back where it was keeps the record that it had.
    await this.#tellAddresses(this.#discovery && this.#options.port > 0 ? this.#options.port : undefined);
    await this.#tellAddresses(await this.#discovery?.start());
    this.peers.start();
  }

  async #tellAddresses(udp: number | undefined): Promise<void> {
    const { address: ip } = this.#options;
    const listening = this.host.getMultiaddrs().map((address) => address.toString());
    const tcp = Number(listening[0]?.match(/\/tcp\/(\d+)/)?.[1]);
    const discovery = udp === undefined ? [] : listening.map((address) => address.replace(/\/tcp\/\d+/, `/udp/${udp}`));
    this.#node.setAddresses({ ip, tcp, udp, p2pAddresses: listening, discoveryAddresses: discovery });
    this.#listening = { p2p: listening, enr: await this.#node.recordText() };
  }
}
