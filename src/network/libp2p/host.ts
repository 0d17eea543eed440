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

/** Makes the gossip of a host out of the host's own parts. */
type PubsubFactory = (components: GossipSubComponents) => GossipSub;

export interface HostOptions {
  /** The node's private secp256k1 key, 32 bytes. */
  key: Uint8Array;
  /** `address` is an IPv4 or IPv6 address; port 0 lets the system choose. */
  listen: { address: string; port: number };
  agentVersion: string;
  /** Beyond these, inbound connections are refused and others closed. */
  maxConnections: number;
  pubsub: PubsubFactory;
  /** Whether connections with the peer (in base58btc) are wanted, whoever dials; all are when this is left out. */
  allowPeer?: (peerId: string) => boolean;
  /** Whether connections with the IP address are wanted; all are when this is left out. */
  allowAddress?: (ip: string) => boolean;
}

/** A stream that nobody reads fills its window and then stops; the library's read buffer of 4 MiB must hold the window. */
const MAX_WINDOW_BYTES = 1 << 20;
const MAX_INBOUND_STREAMS = 256;
/** mplex closes the connection when a peer opens more streams a second than this, however many it has open. */
const MPLEX_STREAMS_PER_SECOND = 256;
/** Several honest nodes may stand behind one address, and all come at once when a network starts. */
const INBOUND_CONNECTIONS_PER_SECOND = 32;
const MAX_PENDING_INBOUND_CONNECTIONS = 32;
const HANDSHAKE_TIMEOUT_MS = 5_000;

/** The node's end of all connections (phase0/p2p-interface.md, Network fundamentals). It is not started, and dials nobody by itself. */
export async function createHost(options: HostOptions): Promise<Host> {
  const { key, listen, agentVersion, maxConnections, pubsub } = options;
  return createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(key),
    nodeInfo: { userAgent: agentVersion },
    addresses: { listen: [listenAddress(listen)] },
    transports: [tcp({ maxConnections: maxConnections + MAX_PENDING_INBOUND_CONNECTIONS })],
    connectionEncrypters: [noise()],
    // The first that both speak is taken. mplex has no flow control, but older nodes speak nothing else.
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
    // Whether a peer is alive is asked with the protocol's own ping; a busy moment must not cost all connections.
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
    // An inbound peer is known by its id only when the encryption stands.
    denyInboundEncryptedConnection: deny,
  };
}

const CLOSE_MS = 1_000;

/** Ends a connection, whether the peer helps or not. Never fails. */
export async function closeConnection(connection: Connection): Promise<void> {
  try {
    await connection.close({ signal: AbortSignal.timeout(CLOSE_MS) });
  } catch (error) {
    connection.abort(error instanceof Error ? error : new Error(String(error)));
  }
}

interface HostFollower {
  opened(connection: Connection): void;
  closed(connection: Connection): void;
  /** The last connection with the peer is gone. */
  disconnected(peerId: string): void;
  identified(result: IdentifyResult): void;
}

/** Tells what happens to the host's connections. Returns the function that ends it. */
export function followHost(
  host: Pick<Host, "addEventListener" | "removeEventListener">,
  { opened, closed, disconnected, identified }: HostFollower,
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
