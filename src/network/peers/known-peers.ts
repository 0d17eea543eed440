import type { BitArray } from "@chainsafe/ssz";
import type { IdentifyResult } from "@libp2p/interface";
import type { fulu } from "@lodestar/types";
import type { Multiaddr } from "@multiformats/multiaddr";
import { isGlobalAddress } from "../address-scope.ts";
import type { PeerDirection, PeerState } from "../network-view.ts";

const MAX_PEERS = 1_000;
/** Caps on self-reported addresses, protocols and names. */
const MAX_ADDRESSES = 8;
const MAX_PROTOCOLS = 64;
const MAX_TEXT = 256;

/** Subnets and custody advertised in an ENR. */
export interface EnrClaims {
  attnets?: BitArray;
  syncnets?: BitArray;
  custodyGroupCount?: number;
}

/** State of a known peer. */
export interface KnownPeer {
  /** In base58btc. */
  readonly id: string;
  state: PeerState;
  /** Direction of the last connection. */
  direction: PeerDirection | null;
  /** The peer's remote address during its last connection. Empty if there was none. */
  lastSeenAddress: string;
  /** Dialable multiaddrs, newest last. */
  readonly addresses: Set<string>;
  enr: string | null;
  /** Claims from the peer's ENR. Metadata takes precedence. */
  record: EnrClaims;
  agentVersion: string;
  protocolVersion: string;
  protocols: string[];
  status: fulu.Status | null;
  metadata: fulu.Metadata | null;
  /** When the peer was last connected on our chain (Unix milliseconds), possibly in an earlier run. */
  lastGoodAt: number | null;
}

/** Returns true if the peer has ever been connected on a beacon chain. */
export const wasPeer = ({ status, lastGoodAt }: KnownPeer): boolean => status !== null || lastGoodAt !== null;

interface KnownPeersParts {
  maxPeers?: number;
  /** Called when a peer has been evicted. */
  forgotten?: (id: string) => void;
}

/** Known peers in any state. If there are too many, disconnected peers are evicted. */
export class KnownPeers {
  readonly #maxPeers: number;
  readonly #forgotten: (id: string) => void;
  /** In the order of their last `touch`. */
  readonly #peers = new Map<string, KnownPeer>();
  /** Peers that are never evicted. */
  readonly #pinned = new Set<string>();

  constructor({ maxPeers = MAX_PEERS, forgotten = () => {} }: KnownPeersParts = {}) {
    this.#maxPeers = maxPeers;
    this.#forgotten = forgotten;
  }

  get(id: string): KnownPeer | undefined {
    return this.#peers.get(id);
  }

  /** Iterates over all peers, least recently touched first. */
  values(): IterableIterator<KnownPeer> {
    return this.#peers.values();
  }

  /** Protects the peer from eviction. */
  keep(id: string): void {
    this.#pinned.add(id);
  }

  /** Makes the peer the most recent entry and returns it, creating it if necessary. */
  touch(id: string): KnownPeer {
    const peer = this.#peers.get(id) ?? newPeer(id);
    this.#peers.delete(id);
    this.#peers.set(id, peer);
    if (this.#peers.size > this.#maxPeers) this.#forgetOne(id);
    return peer;
  }

  forget(id: string): void {
    if (!this.#pinned.has(id) && this.#peers.delete(id)) this.#forgotten(id);
  }

  /** Evicts the oldest disconnected peer, preferring peers that have never been connected. */
  #forgetOne(newest: string): void {
    let oldest: string | undefined;
    for (const peer of this.#peers.values()) {
      if (peer.state !== "disconnected" || peer.id === newest || this.#pinned.has(peer.id)) continue;
      if (!wasPeer(peer)) {
        oldest = peer.id;
        break;
      }
      oldest ??= peer.id;
    }
    if (oldest !== undefined) this.forget(oldest);
  }
}

function newPeer(id: string): KnownPeer {
  return {
    id,
    state: "disconnected",
    direction: null,
    lastSeenAddress: "",
    addresses: new Set(),
    enr: null,
    record: {},
    agentVersion: "",
    protocolVersion: "",
    protocols: [],
    status: null,
    metadata: null,
    lastGoodAt: null,
  };
}

/** Adds a dialable address. If there are too many addresses, the oldest ones are dropped. */
export function addAddress(peer: KnownPeer, address: string): void {
  if (address.length > MAX_TEXT) return;
  peer.addresses.delete(address);
  peer.addresses.add(address);
  for (const oldest of peer.addresses) {
    if (peer.addresses.size <= MAX_ADDRESSES) break;
    peer.addresses.delete(oldest);
  }
}

interface IdentifyClaims {
  agentVersion?: string;
  protocolVersion?: string;
  protocols: string[];
}

/** Stores what a peer reports about itself through identify, with capped lengths. */
export function applyIdentify(peer: KnownPeer, { agentVersion, protocolVersion, protocols }: IdentifyClaims): void {
  peer.agentVersion = (agentVersion ?? "").slice(0, MAX_TEXT);
  peer.protocolVersion = (protocolVersion ?? "").slice(0, MAX_TEXT);
  peer.protocols = protocols.slice(0, MAX_PROTOCOLS).map((protocol) => protocol.slice(0, MAX_TEXT));
}

/** Appends the peer id to a multiaddr that has none. */
export function withPeerId(address: string, peerId: string): string {
  return address.includes("/p2p/") ? address : `${address}/p2p/${peerId}`;
}

/** Returns the addresses from an identify message that are worth dialing. */
export function identifiedAddresses({ listenAddrs, connection, peerId }: IdentifyResult): string[] {
  const { remoteAddr } = connection;
  return (
    listenAddrs
      .slice(0, MAX_ADDRESSES)
      // A remote peer's loopback and private addresses would point to machines near this node.
      .filter(
        (address) => isTcp(address) && (isGlobal(address) || isLoopback(remoteAddr) || isSameSite(address, remoteAddr)),
      )
      .map((address) => withPeerId(address.toString(), peerId.toString()))
  );
}

function isTcp(address: Multiaddr): boolean {
  const [host, port, ...rest] = address.getComponents();
  const isIp = host?.name === "ip4" || host?.name === "ip6";
  return isIp && port?.name === "tcp" && rest.every(({ name }) => name === "p2p");
}

function isGlobal(address: Multiaddr): boolean {
  return isGlobalAddress(address.getComponents()[0]?.value ?? "");
}

/** Returns true if both the address and the peer that reported it are on a private network. */
function isSameSite(address: Multiaddr, remote: Multiaddr): boolean {
  return !isLoopback(address) && !isGlobal(remote);
}

function isLoopback(address: Multiaddr): boolean {
  const [host] = address.getComponents();
  const value = host?.value ?? "";
  return value.startsWith("127.") || value === "::1" || value === "0.0.0.0" || value === "::" || value === "localhost";
}
