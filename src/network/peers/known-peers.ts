import type { BitArray } from "@chainsafe/ssz";
import type { IdentifyResult } from "@libp2p/interface";
import type { fulu } from "@lodestar/types";
import type { Multiaddr } from "@multiformats/multiaddr";
import { isGlobalAddress } from "../address-scope.ts";
import type { PeerDirection, PeerState } from "../network-view.ts";

const MAX_PEERS = 1_000;
/** A peer tells its own addresses, protocols and names: each is cut to what an honest one may need. */
const MAX_ADDRESSES = 8;
const MAX_PROTOCOLS = 64;
const MAX_TEXT = 256;

/** The subnets and the custody that a record claims, as far as it does. */
export interface RecordClaims {
  attnets?: BitArray;
  syncnets?: BitArray;
  custodyGroupCount?: number;
}

/** Everything that is known of one peer. */
export interface KnownPeer {
  /** In base58btc. */
  readonly id: string;
  state: PeerState;
  /** Of the last connection. */
  direction: PeerDirection | null;
  /** Where the last connection came from or went to; empty when there was none. */
  lastSeenAddress: string;
  /** Where it can be dialled, the newest last. */
  readonly addresses: Set<string>;
  enr: string | null;
  /** What its record claims; its metadata counts more. */
  record: RecordClaims;
  agentVersion: string;
  protocolVersion: string;
  protocols: string[];
  status: fulu.Status | null;
  metadata: fulu.Metadata | null;
  /** When it was last seen to be a peer of our chain, in unix milliseconds, perhaps by an earlier start of this node. */
  lastGoodAt: number | null;
}

/** Whether it ever was more than a name. */
export const wasPeer = ({ status, lastGoodAt }: KnownPeer): boolean => status !== null || lastGoodAt !== null;

interface KnownPeersParts {
  maxPeers?: number;
  /** Called when a peer is forgotten. */
  forgotten?: (id: string) => void;
}

/** The peers that the node has heard of, in whatever state. */
export class KnownPeers {
  readonly #maxPeers: number;
  readonly #forgotten: (id: string) => void;
  /** The one that was touched last stands last. */
  readonly #peers = new Map<string, KnownPeer>();
  /** Peers that are never forgotten. */
  readonly #kept = new Set<string>();

  constructor({ maxPeers = MAX_PEERS, forgotten = () => {} }: KnownPeersParts = {}) {
    this.#maxPeers = maxPeers;
    this.#forgotten = forgotten;
  }

  get(id: string): KnownPeer | undefined {
    return this.#peers.get(id);
  }

  /** The least recently touched first. */
  values(): IterableIterator<KnownPeer> {
    return this.#peers.values();
  }

  keep(id: string): void {
    this.#kept.add(id);
  }

  /** The peer, from now on the newest; it may be new. */
  touch(id: string): KnownPeer {
    const peer = this.#peers.get(id) ?? newPeer(id);
    this.#peers.delete(id);
    this.#peers.set(id, peer);
    if (this.#peers.size > this.#maxPeers) this.#forgetOne(id);
    return peer;
  }

  forget(id: string): void {
    if (!this.#kept.has(id) && this.#peers.delete(id)) this.#forgotten(id);
  }

  /** Of the disconnected ones first those that never were a peer, then the oldest. */
  #forgetOne(newest: string): void {
    let oldest: string | undefined;
    for (const peer of this.#peers.values()) {
      if (peer.state !== "disconnected" || peer.id === newest || this.#kept.has(peer.id)) continue;
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

/** Notes where a peer can be dialled; of too many addresses the oldest go. */
export function addAddress(peer: KnownPeer, address: string): void {
  if (address.length > MAX_TEXT) return;
  peer.addresses.delete(address);
  peer.addresses.add(address);
  for (const oldest of peer.addresses) {
    if (peer.addresses.size <= MAX_ADDRESSES) break;
    peer.addresses.delete(oldest);
  }
}

interface Introduction {
  agentVersion?: string;
  protocolVersion?: string;
  protocols: string[];
}

/** Notes what a peer tells about its software. */
export function introduce(peer: KnownPeer, { agentVersion, protocolVersion, protocols }: Introduction): void {
  peer.agentVersion = (agentVersion ?? "").slice(0, MAX_TEXT);
  peer.protocolVersion = (protocolVersion ?? "").slice(0, MAX_TEXT);
  peer.protocols = protocols.slice(0, MAX_PROTOCOLS).map((protocol) => protocol.slice(0, MAX_TEXT));
}

/** The address with the id at its end. */
export function withPeerId(address: string, peerId: string): string {
  return address.includes("/p2p/") ? address : `${address}/p2p/${peerId}`;
}

/** Where a peer says that it listens, as far as it makes sense to dial there. */
export function identifiedAddresses({ listenAddrs, connection, peerId }: IdentifyResult): string[] {
  const { remoteAddr } = connection;
  return (
    listenAddrs
      .slice(0, MAX_ADDRESSES)
      // A remote peer's own machine and network are not ours, and their names must not make us dial our own.
      .filter(
        (address) => isTcp(address) && (isGlobal(address) || isLoopback(remoteAddr) || isOfSite(address, remoteAddr)),
      )
      .map((address) => withPeerId(address.toString(), peerId.toString()))
  );
}

function isTcp(address: Multiaddr): boolean {
  const [place, port, ...rest] = address.getComponents();
  const isPlace = place?.name === "ip4" || place?.name === "ip6";
  return isPlace && port?.name === "tcp" && rest.every(({ name }) => name === "p2p");
}

function isGlobal(address: Multiaddr): boolean {
  return isGlobalAddress(address.getComponents()[0]?.value ?? "");
}

/** Whether the address and the peer that names it are both of a private network. */
function isOfSite(address: Multiaddr, remote: Multiaddr): boolean {
  return !isLoopback(address) && !isGlobal(remote);
}

function isLoopback(address: Multiaddr): boolean {
  const [place] = address.getComponents();
  const value = place?.value ?? "";
  return value.startsWith("127.") || value === "::1" || value === "0.0.0.0" || value === "::" || value === "localhost";
}
