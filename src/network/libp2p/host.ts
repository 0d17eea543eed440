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

/** Creates the gossipsub service from the host's components. */
type PubsubFactory = (components: GossipSubComponents) => GossipSub;

export interface HostOptions {
  /** The node's secp256k1 private key (32 bytes). */
  key: Uint8Array;
  /** `address` is an IPv4 or IPv6 address. Port 0 picks a free port. */
  listen: { address: string; port: number };
  agentVersion: string;
  /** Maximum number of connections. Inbound connections above it are refused. */
  maxConnections: number;
  pubsub: PubsubFactory;
  /** Decides by peer id (base58btc) whether to allow a connection in either direction. By default all are allowed. */
  allowPeer?: (peerId: string) => boolean;
  /** Decides by IP address whether to allow a connection. By default all are allowed. */
  allowAddress?: (ip: string) => boolean;
}

/**
 * If a stream is not read, it stalls when its window is full. The window must fit into the library's 4 MiB read buffer.
 */
const MAX_WINDOW_BYTES = 1 << 20;
const MAX_INBOUND_STREAMS = 256;
/** If a peer opens more streams per second, mplex closes the connection. */
const MPLEX_STREAMS_PER_SECOND = 256;
/** When a network starts, several honest nodes may connect at once from a shared address. */
const INBOUND_CONNECTIONS_PER_SECOND = 32;
const MAX_PENDING_INBOUND_CONNECTIONS = 32;
const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * Creates the libp2p host (phase0/p2p-interface.md, Network fundamentals). The caller has to start it, and it does not
 * dial peers on its own.
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
    // In order of preference. mplex has no flow control, but is all that some older nodes support.
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
    // The consensus protocol's ping checks for liveness, because libp2p's connection monitor would drop all connections
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
    // An inbound peer's id is not known until the encryption handshake is complete.
    denyInboundEncryptedConnection: deny,
  };
}

const CLOSE_MS = 1_000;

/** Closes a connection gracefully, and aborts it after a timeout. Never rejects. */
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
  /** The last connection to the peer has been closed. */
  disconnected(peerId: string): void;
  identified(result: IdentifyResult): void;
}

/** Subscribes to the host's connection events. Returns an unsubscribe function. */
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
