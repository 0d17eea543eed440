import { isIPv6 } from "node:net";
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import type { GossipSub, GossipSubComponents } from "@libp2p/gossipsub";
import { type Identify, identify } from "@libp2p/identify";
import type { Connection, ConnectionGater, IdentifyResult, Libp2p, PeerId } from "@libp2p/interface";
import { mplex } from "@libp2p/mplex";
import { tcp } from "@libp2p/tcp";
import type { Multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { ipOf } from "../address-scope.ts";

export type Host = Libp2p<{ identify: Identify; pubsub: GossipSub }>;

/** Creates the host's gossipsub service from the host's components. */
type PubsubFactory = (components: GossipSubComponents) => GossipSub;

export interface HostOptions {
  /** The node's private secp256k1 key, 32 bytes. */
  key: Uint8Array;
  /** `address` is an IPv4 or IPv6 address; port 0 picks a free port. */
  listen: { address: string; port: number };
  agentVersion: string;
  /** Connection limit. Further inbound connections are refused. */
  maxConnections: number;
  pubsub: PubsubFactory;
  /** Gates inbound and outbound connections by peer id (base58btc). Default: all allowed. */
  allowPeer?: (peerId: string) => boolean;
  /** Gates connections by IP address. Default: all allowed. */
  allowAddress?: (ip: string) => boolean;
}

/**
 * A stream without a reader stalls when its window is full. The window must fit into the library's 4 MiB read buffer.
 */
const MAX_WINDOW_BYTES = 1 << 20;
const MAX_INBOUND_STREAMS = 256;
/** mplex closes the connection of a peer that opens more streams per second. */
const MPLEX_STREAMS_PER_SECOND = 256;
/** Several honest nodes may share one address and connect at once when a network starts. */
const INBOUND_CONNECTIONS_PER_SECOND = 32;
const MAX_PENDING_INBOUND_CONNECTIONS = 32;
const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * Creates the libp2p host (phase0/p2p-interface.md, Network fundamentals). It is not started and dials no peers on its
 * own.
 */
export async function createHost(options: HostOptions): Promise<Host> {
  const { key, listen, agentVersion, maxConnections, pubsub } = options;
  return createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(key),
    nodeInfo: { userAgent: agentVersion },
    addresses: { listen: [listenAddress(listen)] },
    transports: [tcp({ maxConnections: maxConnections + MAX_PENDING_INBOUND_CONNECTIONS })],
    connectionEncrypters: [noise()],
    // Listed by preference. mplex has no flow control, but some older nodes support nothing else.
    streamMuxers: [
      yamux({ maxInboundStreams: MAX_INBOUND_STREAMS, streamOptions: { maxStreamWindowSize: MAX_WINDOW_BYTES } }),
      mplex({ disconnectThreshold: MPLEX_STREAMS_PER_SECOND }),
    ],
    connectionGater: gate(options),
    connectionManager: {
      maxConnections,
      inboundConnectionThreshold: INBOUND_CONNECTIONS_PER_SECOND,
      maxIncomingPendingConnections: MAX_PENDING_INBOUND_CONNECTIONS,
      inboundUpgradeTimeout: HANDSHAKE_TIMEOUT_MS,
      reconnectRetries: 0,
    },
    // Liveness is checked with the ping of the consensus protocol, because libp2p's monitor would drop all connections
    // of a stalled process.
    connectionMonitor: { enabled: false },
    services: { identify: identify(), pubsub },
  });
}

function listenAddress({ address, port }: HostOptions["listen"]): string {
  return `/${isIPv6(address) ? "ip6" : "ip4"}/${address}/tcp/${port}`;
}

function gate({ allowPeer, allowAddress }: Pick<HostOptions, "allowPeer" | "allowAddress">): ConnectionGater {
  const deny = (peerId: PeerId): boolean => allowPeer?.(peerId.toString()) === false;
  const denyAddress = (address: Multiaddr): boolean => allowAddress?.(ipOf(address) ?? "") === false;
  return {
    denyDialMultiaddr: denyAddress,
    denyInboundConnection: ({ remoteAddr }) => denyAddress(remoteAddr),
    denyDialPeer: deny,
    denyOutboundEncryptedConnection: deny,
    // The id of an inbound peer is known only after the encryption handshake.
    denyInboundEncryptedConnection: deny,
  };
}

const CLOSE_MS = 1_000;

/** Closes a connection gracefully, or aborts it after a timeout. Never rejects. */
export async function closeConnection(connection: Connection): Promise<void> {
  try {
    await connection.close({ signal: AbortSignal.timeout(CLOSE_MS) });
  } catch (error) {
    connection.abort(error instanceof Error ? error : new Error(String(error)));
  }
}

interface HostListeners {
  opened(connection: Connection): void;
  closed(connection: Connection): void;
  /** The last connection to the peer was closed. */
  disconnected(peerId: string): void;
  identified(result: IdentifyResult): void;
}

/** Subscribes to the host's connection events. Returns the function that unsubscribes. */
export function subscribeToHost(
  host: Pick<Host, "addEventListener" | "removeEventListener">,
  { opened, closed, disconnected, identified }: HostListeners,
): () => void {
  const onOpen = ({ detail }: CustomEvent<Connection>) => opened(detail);
  const onClose = ({ detail }: CustomEvent<Connection>) => closed(detail);
  const onDisconnect = ({ detail }: CustomEvent<PeerId>) => disconnected(detail.toString());
  const onIdentify = ({ detail }: CustomEvent<IdentifyResult>) => identified(detail);
  host.addEventListener("connection:open", onOpen);
  host.addEventListener("connection:close", onClose);
  host.addEventListener("peer:disconnect", onDisconnect);
  host.addEventListener("peer:identify", onIdentify);
  return () => {
    host.removeEventListener("connection:open", onOpen);
    host.removeEventListener("connection:close", onClose);
    host.removeEventListener("peer:disconnect", onDisconnect);
    host.removeEventListener("peer:identify", onIdentify);
  };
}
